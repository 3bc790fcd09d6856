"""The simulated prefix caches: one tokenised rendering of a request, and two ways to bill it.

`segments`     a request as a sequence of tokenised segments (tools, system, messages)
`prefix_tree`  the longest common token prefix with any earlier request
`breakpoints`  Anthropic's cache: written at `cache_control` marks, read within a lookback
`automatic`    OpenAI's cache: the longest common prefix, in steps of 128 tokens
"""
