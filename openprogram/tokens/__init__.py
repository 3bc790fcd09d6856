"""Count tokens offline with the o200k_base vocabulary.

Importing this package costs nothing. The first call loads the encoder (about 45 MB of memory and
0.4 s of CPU), so a process that wants to stay small keeps counts instead of counting again: the
server stores them per tool hash and leaves counting in bulk to the fake API's own process.

No function here opens a network connection: the ranks come out of an installed package.

The counts are OpenAI's. For current Claude models they are 25 to 45 % too low, so prices and budgets
calibrate them with the usage that the provider returns.

Errors: `TokenDataError` where the packaged ranks are missing or are not o200k_base.
"""

from openprogram.tokens.o200k import TokenDataError, count_tokens, decode, encode

__all__ = ["TokenDataError", "count_tokens", "decode", "encode"]
