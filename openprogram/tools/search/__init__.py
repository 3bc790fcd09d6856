"""Finding a deferred tool by what somebody says about it: terms, a BM25F index, and the index of each registry."""
