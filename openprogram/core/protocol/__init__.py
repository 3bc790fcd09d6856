"""The WebSocket protocol `openprogram.v1`: actions that clients send, frames that the server sends, and their codec."""

VERSION = "openprogram.v1"
