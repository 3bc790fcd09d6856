"""The tool intent of a chat: its layers, its patches and the shapes it is read from. Pure; spec tools.md section 1."""
