"""The fake API: the providers' wire formats over real HTTP, with the demo model behind them.

It runs as a process of its own (`openprogram fake-api`, or `python -m openprogram.fakeapi`) and
imports only core and tokens. A chat without a key talks to it through the real adapters; so do the
tests and the benchmarks.

    POST /v1/messages                 Anthropic Messages, streaming or not
    POST /v1/messages/count_tokens
    POST /v1/chat/completions         OpenAI Chat Completions, streaming or not
    POST /v1/responses                OpenAI Responses, streaming or not
    GET  /v1/models, /v1/models/NAME  Anthropic's shape if the header anthropic-version is sent
    GET  /search?q=...&format=json    canned search results in SearXNG's shape

A request passes the numbered rules of its wire format (`rules`), is rendered into tokenised segments
and looked up in the simulated prefix cache (`cache`), and is answered by the first script that fits
(`scripts`), by the benchmark stream (`bench-TOKENS-RATE`) or by the demo model (`demo`). The answer
is put into its wire format (`dialects`) and sent on schedule (`play`).

Control surface for tests (not with `--no-control`):

    POST /__fake/script               queue answers: blocks, chunks with holds, faults, usage
    POST /__fake/release/NAME         let past what waits at the hold NAME
    GET  /__fake/requests?since=N     what came in: headers, body, rule that refused it, cache verdict
    GET  /__fake/state                open streams and how others ended
    GET  /__fake/wait?closed=1        long poll: closed, finished, open, requests, held; timeout
    POST /__fake/clock                {"advance": seconds} for the caches
    POST /__fake/models               {"models": [...]} to be listed
    POST /__fake/faults               faults that hold for coming requests
    POST /__fake/refuse               features that get 400 from now on
    GET  /__fake/bill                 every token answered for, by kind
    POST /__fake/reset                as if just started

`docs/fake-api.md` has the details and every rule by its number.
"""
