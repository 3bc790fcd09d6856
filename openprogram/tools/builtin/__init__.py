"""The tools that come with the program: files, shell, web. `compose.builtin_tools` makes them all."""
