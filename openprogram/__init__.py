"""openprogram: a self-hosted WebSocket chat server for tool-using agents."""

__version__ = "0.1.0"
