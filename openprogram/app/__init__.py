"""The composition root: settings, what is built from them, and the process that serves it."""
