"""What an endpoint has been shown, and how it may change without moving a cached byte."""
