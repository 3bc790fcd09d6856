"""What the real APIs reject, as numbered rules: one function each, tried in the order of the tables.

`A` numbers are Anthropic Messages, `O` numbers are OpenAI Chat Completions. The documentation lists
each by its number (`docs/fake-api.md`), and each has a test by its number. To add a rule, append a
function to the module it belongs to; a number is never used again for something else.
"""
