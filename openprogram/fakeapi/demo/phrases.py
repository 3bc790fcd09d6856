"""Every sentence of the demo model, in English and Chinese."""

from __future__ import annotations

from typing import Final, NamedTuple


class _Phrase(NamedTuple):
    english: str
    chinese: str


_PHRASES: Final[dict[str, _Phrase]] = {
    "identity": _Phrase(
        "I'm openprogram's built-in demo model: scripted, no intelligence, no network. I recognise a "
        "fixed list of requests, really call this chat's tools, and show what they return. To get work done, "
        'connect a real model: "Connect a model" below the message box says how.',
        "我是 openprogram 内置的演示模型：只有固定脚本，没有智能，也不联网。我能识别一组固定的请求，"
        "真实调用本聊天的工具，并展示它们返回的内容。要真正干活，请连接一个真实的模型：输入框下方的“连接模型”会说明做法。",
    ),
    "summary": _Phrase(
        "(A summary by the demo model, which only counts.) Messages of yours so far: {count}. The newest: “{newest}”. "
        "Results of tools: {results}.",
        "（演示模型的摘要，只会计数。）你至今的消息数：{count}。最新一条：“{newest}”。工具结果数：{results}。",
    ),
    "unknown": _Phrase(
        "I don't recognise that request, and I don't guess.",
        "我不认识这个请求，也不会乱猜。",
    ),
    "abilities": _Phrase(
        "Try one of these:\n\n"
        "- *list the files here*, *read README.md*, *read several files*\n"
        "- *find TODO in the files*, *run the tests*, *run `ls -la`*\n"
        "- *create a file hello.txt saying Hi*, *replace Hi with Hello in hello.txt*\n"
        "- *search the web for SQLite WAL* (with the web-search chip on), *fetch https://example.com*\n"
        "- *explore this project*: two steps in one turn\n"
        "- *write a long markdown answer*, *make a plan*, *think hard about caching*, *count to 20 slowly*\n"
        '- *call read {"path": "README.md"}*: any tool with the arguments you give',
        "可以试试：\n\n"
        "- *列出文件*、*读取 README.md*、*读几个文件*\n"
        "- *在文件中查找 TODO*、*运行测试*、*运行 `ls -la`*\n"
        "- *创建文件 hello.txt 内容 你好*、*把 hello.txt 里的 你好 改成 再见*\n"
        "- *上网搜索 SQLite WAL*（先打开联网搜索开关）、*抓取 https://example.com*\n"
        "- *了解这个项目*：一轮里走两步\n"
        "- *写一篇长的 markdown*、*制定计划*、*仔细想想缓存*、*数到 20*\n"
        '- *调用 read {"path": "README.md"}*：用你给的参数调用任意工具',
    ),
    "tools_now": _Phrase("Tools in this request: {names}.", "本次请求带有的工具：{names}。"),
    "no_tools": _Phrase("This request declares no tools.", "本次请求没有声明任何工具。"),
    "missing": _Phrase(
        "For that I need the tool {tool}, which this request does not offer. Look in the tool panel: it "
        "says for each tool why it is on or off.",
        "这需要工具 {tool}，但本次请求没有提供。请看工具面板，那里写着每个工具为什么开或关。",
    ),
    "chip_off": _Phrase(
        "Web search is off in this chat, so I can't search for “{query}”. Turn on the web-search chip below "
        "the message box and send the request again; it applies from the next message.",
        "本聊天的联网搜索没有打开，所以我不能搜索“{query}”。请打开输入框下方的联网搜索开关，再发送一次；从下一条消息起生效。",
    ),
    "calling": _Phrase("I call `{tool}`.", "我来调用 `{tool}`。"),
    "calling_many": _Phrase("I call `{tool}` {count} times at once.", "我同时调用 `{tool}` {count} 次。"),
    "discovering": _Phrase(
        "`{tool}` is not loaded yet, so I ask `tool_search` for it first.",
        "`{tool}` 还没有加载，我先用 `tool_search` 找它。",
    ),
    "result": _Phrase("`{tool}`{of} returned {lines}:", "`{tool}`{of}返回了 {lines}："),
    "of": _Phrase(" ({subject})", "（{subject}）"),
    "line": _Phrase("1 line", "1 行"),
    "lines": _Phrase("{count} lines", "{count} 行"),
    "empty_result": _Phrase("`{tool}` returned nothing.", "`{tool}` 没有返回任何内容。"),
    "failed": _Phrase("`{tool}` failed. It says:", "`{tool}` 失败了。它说："),
    "denied": _Phrase(
        "The call to `{tool}` was not allowed, so nothing was done. The note says:",
        "对 `{tool}` 的调用没有被允许，所以什么都没有做。说明如下：",
    ),
    "closing": _Phrase(
        "That is what the tools returned, nothing added: I'm a script and don't understand it.",
        "以上就是工具返回的内容，没有添加任何东西：我只是脚本，并不理解它。",
    ),
    "thinking_short": _Phrase(
        "The newest message is: “{task}”. I look it up in my script and answer with what stands there.",
        "最新的消息是：“{task}”。我在脚本里查到它，照着回答。",
    ),
    "thinking_long": _Phrase(
        "This is a scripted chain of thought, so that folded reasoning can be seen.\n\n"
        "First, the topic: {topic}. A real model would recall what it knows about it. I know nothing.\n\n"
        "Second, the ways to go about it: ask for the goal, look at the files, try the smallest thing that "
        "could work, measure. A real model would weigh them against each other.\n\n"
        "Third, what could be wrong: a wrong assumption at the start costs more than a slow step later.\n\n"
        "So the honest answer is short.",
        "这是一段写死的思考过程，好让折叠的推理能被看到。\n\n"
        "第一，题目：{topic}。真实的模型会回忆相关知识，而我一无所知。\n\n"
        "第二，做法：问清目标，看看文件，先试最小可行的办法，再测量。真实的模型会比较它们。\n\n"
        "第三，可能出错的地方：一开始的错误假设，比后面慢一步更贵。\n\n"
        "所以诚实的回答很短。",
    ),
    "thought": _Phrase(
        "I showed a scripted chain of thought about {topic}. My honest conclusion: ask a real model.",
        "我展示了一段关于{topic}的固定思考过程。诚实的结论是：请去问真实的模型。",
    ),
    "thinking_off": _Phrase(
        "Thinking is switched off for this request, so there is no reasoning to show. My honest conclusion "
        "about {topic}: ask a real model.",
        "本次请求关闭了思考，所以没有推理可以展示。关于{topic}，诚实的结论是：请去问真实的模型。",
    ),
    "it": _Phrase("it", "它"),
    "plan": _Phrase(
        "## A plan{topic}\n\n*(The same plan for every topic: I'm a script.)*\n\n"
        "1. **Say what done means.** One sentence, checkable.\n"
        "2. **Look before touching.** List the files, read the README, run the tests.\n"
        "3. **Smallest change first.**\n   - one file\n   - one test that fails without it\n"
        "4. **Check.** Run the tests again, read the diff.\n"
        "5. **Write down** what was left out, and why.\n\n"
        "- [ ] goal agreed\n- [ ] tests green before\n- [ ] change made\n- [ ] tests green after\n",
        "## 计划{topic}\n\n*（无论什么题目都是同一个计划：我只是脚本。）*\n\n"
        "1. **先说清什么叫完成。** 一句话，可以检查。\n"
        "2. **先看再动。** 列出文件，读 README，运行测试。\n"
        "3. **先做最小的改动。**\n   - 一个文件\n   - 一个没有它就失败的测试\n"
        "4. **检查。** 再跑一遍测试，看看差异。\n"
        "5. **记下**没做的事和原因。\n\n"
        "- [ ] 目标达成一致\n- [ ] 改动前测试通过\n- [ ] 完成改动\n- [ ] 改动后测试通过\n",
    ),
}


def say(key: str, chinese: bool, **values: object) -> str:
    """The phrase `key` in the language asked for, with `values` filled in."""
    phrase = _PHRASES[key]
    template = phrase.chinese if chinese else phrase.english
    for name, value in values.items():
        # Not str.format: a value may hold braces, and so does an example in the phrases.
        template = template.replace("{" + name + "}", str(value))
    return template
