"""Implementations of `core.ports.Bus`. Each must pass `tests/conformance/bus`."""
