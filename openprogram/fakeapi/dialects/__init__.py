"""The wire formats: how each API's requests are read and its answers written.

`base` says what a dialect can do; the rest of the package knows no wire format. A further API is one more
dialect here, one more table in `rules` and one more route.
"""
