/** What the mock's model says: a few canned turns that show every kind of row. */

export type Beat =
  | { do: "think"; text: string }
  | { do: "say"; text: string }
  | {
      do: "call";
      name: string;
      arguments: Record<string, unknown>;
      output?: string;
      result: string;
      status?: "ok" | "error";
      display?: Record<string, unknown>;
      approve?: "command" | "diff";
      ms?: number;
    }
  | { do: "fail" };

const markdown = `# A tour of Markdown

Here is **bold**, *emphasis*, ~~struck~~ and \`inline code\`, a [link](https://example.org/docs), and an image that is not loaded by itself: ![a chart](https://example.org/chart.png)

## Lists

1. First, the plan
2. Then, the work
   - with a nested point
   - and another one
3. Finally, the check

- [x] Written
- [ ] Reviewed

## Code

\`\`\`python
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intent:
    """What the user wanted, never what it meant on that day."""

    toolset: str | None = None
    web_search: bool | None = None

    def merged(self, below: "Intent") -> "Intent":
        # Null falls through to the layer below.
        return Intent(
            toolset=self.toolset if self.toolset is not None else below.toolset,
            web_search=self.web_search if self.web_search is not None else below.web_search,
        )
\`\`\`

## A table

| Field | Meaning | Default |
|---|---|---:|
| \`enabled\` | master switch | null |
| \`toolset\` | which preset | null |
| \`web_search\` | the chip | null |

> A switch is an intent, never a list.

---

Keep lines short, say one thing at a time, and leave room to breathe. A paragraph of ordinary length shows how text sets at the measure of this column: comfortable to read, neither cramped nor lost in a wide window.
`;

const diff = `--- a/src/app.py
+++ b/src/app.py
@@ -1,6 +1,7 @@
 import asyncio
+import signal

 async def main() -> None:
-    server = Server(port=8790)
+    server = Server(port=settings.port)
     await server.run()
`;

export function scriptFor(text: string): Beat[] {
  const wanted = text.toLowerCase();
  if (wanted.includes("benchmark"))
    return [{ do: "say", text: markdown.repeat(Math.ceil(20_700 / markdown.length)).slice(0, 20_700) }];
  if (wanted.includes("search")) return search;
  if (wanted.includes("command") || wanted.includes("test")) return command;
  if (wanted.includes("edit")) return edit;
  if (wanted.includes("fail")) return [{ do: "say", text: "Let me try" }, { do: "fail" }];
  if (wanted.includes("markdown") || wanted.includes("long"))
    return [
      {
        do: "think",
        text: "The user wants to see formatting. I should show headings, lists, code and a table, in a sensible order.",
      },
      { do: "say", text: markdown },
    ];
  if (wanted.includes("file") || wanted.includes("list")) return files;
  return [
    {
      do: "say",
      text: `You said: “${text}”. I am the mock that stands in for a model while the interface is being built.`,
    },
  ];
}

const files: Beat[] = [
  { do: "say", text: "I'll look around." },
  { do: "call", name: "list", arguments: { path: "." }, result: "README.md\nsrc/\ntests/\npyproject.toml" },
  {
    do: "call",
    name: "glob",
    arguments: { pattern: "src/**/*.py" },
    result: "src/app.py\nsrc/settings.py\nsrc/store.py",
  },
  { do: "call", name: "read", arguments: { path: "README.md" }, result: "# A project\n\nIt does one thing well." },
  {
    do: "call",
    name: "read",
    arguments: { path: "src/app.py" },
    result: "import asyncio\n\nasync def main() -> None:\n    ...",
  },
  {
    do: "say",
    text: "There are four entries:\n\n- `README.md`: what the project is\n- `src/`: three modules\n- `tests/`\n- `pyproject.toml`",
  },
];

const command: Beat[] = [
  { do: "think", text: "I should run the test suite and report what fails." },
  { do: "say", text: "Running the tests." },
  {
    do: "call",
    name: "bash",
    arguments: { command: "python -m pytest -q --maxfail=1 tests/unit" },
    approve: "command",
    output: "........................................ [ 62%]\n.......F\n",
    result:
      "........................................ [ 62%]\n.......F\n=================================== FAILURES ===================================\ntests/unit/test_store.py:41: AssertionError: assert 3 == 4\n1 failed, 47 passed in 2.31s",
    status: "error",
    display: { exit_code: 1 },
    ms: 2300,
  },
  { do: "say", text: "One test fails: `test_store.py:41` expects four rows and finds three." },
];

const edit: Beat[] = [
  { do: "say", text: "I'll take the port from the settings." },
  {
    do: "call",
    name: "edit",
    arguments: { path: "src/app.py", old: "port=8790", new: "port=settings.port" },
    approve: "diff",
    result: "edited src/app.py",
    display: { diff },
  },
  { do: "say", text: "Done: the port now comes from `settings`." },
];

const search: Beat[] = [
  { do: "think", text: "A recent question: search first." },
  {
    do: "call",
    name: "web_search",
    arguments: { query: "prompt caching tool changes" },
    result: "3 results",
    display: {
      provider: "demo",
      results: [
        {
          title: "Prompt caching, explained",
          url: "https://docs.example.org/caching",
          snippet: "A prefix that does not change is read at a tenth of the price.",
          date: "2026-10-02",
        },
        {
          title: "Why a toggle rewrites your bill",
          url: "https://blog.example.com/toggle",
          snippet: "Flipping one switch invalidates tools, system and messages alike.",
          date: "2026-08-19",
        },
        {
          title: "Append-only conversations",
          url: "https://papers.example.net/append",
          snippet: "Deltas at the end keep every byte before them valid.",
          date: null,
        },
      ],
    },
  },
  {
    do: "call",
    name: "web_fetch",
    arguments: { url: "https://docs.example.org/caching" },
    result: "# Prompt caching\n\nA prefix that does not change…",
    display: { title: "Prompt caching, explained", url: "https://docs.example.org/caching" },
  },
  {
    do: "say",
    text: "A provider caches the longest unchanged prefix of a request [1](https://docs.example.org/caching). Rewriting the tool list changes bytes near its start, so everything behind them is billed again.",
  },
];

export { diff };
