"""May this call run without asking? Pure rules over mode, grants and call; the asking itself is elsewhere."""
