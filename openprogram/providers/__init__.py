"""Model endpoints: two wire formats behind one protocol, `openprogram.core.ports.Provider`.

Entry points: `discovery.discover` (which endpoints there are), `factory.build_provider` (one endpoint's provider),
`segments.segments` (fingerprints of a request). A request goes down as `history.arrange` (pairing and merging, neutral)
-> `*_prompt` (the wire's JSON) -> HTTP; the answer comes up as `sse` -> `*_events` -> `answer` -> `streaming`.
"""
