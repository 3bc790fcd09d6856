"""Tools: declaring, registering, resolving and wrapping them. The built-in ones are in `builtin`."""
