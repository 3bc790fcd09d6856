"""The agent: a turn's frozen contract, its steps, its tool calls. Handed everything; imports no store, bus or web."""
