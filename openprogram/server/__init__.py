"""The edge towards browsers and scripts: HTTP, the WebSocket, and the actions that arrive by them."""
