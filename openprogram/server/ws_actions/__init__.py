"""The WebSocket action layer: one module per group of actions, and the table from action to handler.

Handlers are thin. What an action means lies in `openprogram.sessions`; here is decided only which of them
concern the link itself (subscriptions, ping) and which go on to the service.
"""
