"""Count tokens in a process of its own: a JSON array of texts on standard input, one of counts on standard output."""

import sys

from openprogram.core.jsonio import decode, encode
from openprogram.tokens import count_tokens


def main() -> None:
    """Count and end."""
    texts = decode(sys.stdin.buffer.read())
    counts = [count_tokens(str(text)) for text in texts] if isinstance(texts, list) else []
    sys.stdout.buffer.write(encode(counts))


if __name__ == "__main__":
    main()
