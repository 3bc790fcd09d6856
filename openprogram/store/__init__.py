"""Implementations of `core.ports.Store`. Each must pass `tests/conformance/store`."""
