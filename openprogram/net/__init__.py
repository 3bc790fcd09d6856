"""HTTP: guarded for addresses that a model, a user or a server supplies, plain for configured ones (R16)."""
