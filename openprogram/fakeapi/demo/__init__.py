"""The demo model: scripted and honest. It understands a fixed list of requests in English and
Chinese, really calls the tools that a request declares, and reports what they returned.

`intents`   what a person can ask for
`recognise` which of it a text asks for, by regular expressions
`tools`     arguments for a declared tool, by its JSON Schema
`results`   what to say about a tool's result
`phrases`   every sentence, in both languages
`showcase`  the long Markdown answer
`model`     puts them together
"""
