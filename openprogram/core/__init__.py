"""Values and protocols that every other package speaks in. Imports nothing above itself."""
