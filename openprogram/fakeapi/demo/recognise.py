"""What the person wants, by regular expressions in English and Chinese.

The order of the rules decides where several fit: the more specific one stands first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

import orjson

from openprogram.fakeapi.demo.intents import (
    Count,
    CreateFile,
    EditFile,
    Explore,
    FetchUrl,
    FindText,
    Greet,
    Intent,
    ListFiles,
    Plan,
    ReadFiles,
    RunCommand,
    SearchWeb,
    Showcase,
    Think,
    Unknown,
    UseTool,
)

TEST_COMMAND: Final = "if [ -x scripts/test ]; then scripts/test; else python3 -m pytest -q; fi"
SEVERAL: Final = ("README.md", "CHANGELOG.md", "LICENSE")

_FILE: Final = r"[\w./~-]*\w\.\w+|README\w*|LICENSE|Makefile|Dockerfile"
_MAX_COUNT: Final = 1000

_Maker: TypeAlias = Callable[[re.Match[str]], Intent]


def recognise(text: str) -> Intent:
    """The first rule that fits the last paragraph of `text`; what has paragraphs in it may be all of `text`.

    Messages in a row come as paragraphs of one text. One that was stopped before its answer is not done later, in place
    of the newest.
    """
    whole = text.strip()
    newest = _fitting(whole.rpartition("\n\n")[2].strip())
    if not isinstance(newest, Unknown):
        return newest
    intent = _fitting(whole)
    return intent if isinstance(intent, CreateFile | EditFile | UseTool) else Unknown()


def _fitting(wanted: str) -> Intent:
    for maker, pattern in _COMPILED:
        match = pattern.search(wanted)
        if match is not None:
            intent = maker(match)
            if not isinstance(intent, Unknown):
                return intent
    return Unknown()


def is_chinese(text: str) -> bool:
    """Whether to answer in Chinese."""
    return re.search(r"[\u4e00-\u9fff]", text) is not None


def _clean(text: str) -> str:
    """Without the quotation marks and the full stop that people put around a name."""
    return text.strip().strip("\"'`“”‘’「」『』").rstrip("。！？!?").strip("\"'`“”‘’「」『』 ")


def _first(match: re.Match[str]) -> str:
    return _clean(next((group for group in match.groups() if group), ""))


def _use_tool(match: re.Match[str]) -> Intent:
    try:
        arguments = orjson.loads(match["json"] or "{}")
    except orjson.JSONDecodeError:
        return Unknown()
    return UseTool(match["name"], arguments) if isinstance(arguments, dict) else Unknown()


def _create(match: re.Match[str]) -> Intent:
    return CreateFile(_clean(match["path"]), _clean(match["content"]))


def _edit(match: re.Match[str]) -> Intent:
    return EditFile(_clean(match["path"]), _clean(match["old"]), _clean(match["new"]))


def _read(match: re.Match[str]) -> Intent:
    paths = tuple(dict.fromkeys(re.findall(_FILE, match["files"], re.IGNORECASE)))
    return ReadFiles(paths) if paths else Unknown()


def _count(match: re.Match[str]) -> Intent:
    return Count(min(int(match[1]), _MAX_COUNT))


def _fetch(match: re.Match[str]) -> Intent:
    return FetchUrl(match[1].rstrip(".,;。，)"))


_WITH: Final = r" (?:with|to|into|by) "
_IN_FILES: Final = r"(?:the |all |these |my )*(?:files?|code|project|workspace|repo\w*)\b"
_SAYING: Final = r"(?: that| which)? (?:saying|says|containing|contains|with(?: the)?(?: content| text)?)[: ]+"

_RULES: Final[tuple[tuple[_Maker, tuple[str, ...]], ...]] = (
    (
        _use_tool,
        (
            (
                r"^(?:please )?(?:use|call)(?: the)?(?: tool)? `?(?P<name>\w[\w-]*)`?(?: tool)?(?: with)?"
                r"\s*(?P<json>\{.*\})?$"
            ),
            r"^(?:请)?(?:调用|使用)(?:工具)?\s*`?(?P<name>[A-Za-z_][\w-]*)`?(?:工具)?\s*(?P<json>\{.*\})?$",
        ),
    ),
    (
        lambda match: Think(_first(match)),
        (
            r"^(?:please )?think(?: hard| carefully| deeply)?(?: about)?\b(.*)",
            r"(?:仔细|认真|好好)(?:地)?(?:想想|想一想|思考)(?:一下)?(.*)",
        ),
    ),
    (_count, (r"count (?:slowly )?(?:up )?to (\d{1,6})", r"数到\s*(\d{1,6})")),
    (
        lambda _: Showcase(),
        (r"\b(?:write|show|give)\b.*\bmarkdown\b", r"\blong answer\b", r"写.*markdown", r"长(?:篇)?的?(?:回答|文章)"),
    ),
    (_fetch, (r"(https?://[^\s<>\"'`]+)",)),
    (
        _edit,
        (
            (
                r"edit (?:the )?(?:file )?`?(?P<path>[^\s`:,]+)`?[:,]? (?:and )?(?:replace|change) "
                rf"(?P<old>.+?){_WITH}(?P<new>.+)"
            ),
            rf"(?:replace|change) (?P<old>.+?){_WITH}(?P<new>.+?) in (?:the )?(?:file )?(?P<path>\S+)",
            (
                r"把\s*(?P<path>[\w./-]+)\s*(?:里面|里|中)的?\s*(?P<old>.+?)"
                r"\s*(?:改成|替换成|替换为|换成|改为)\s*(?P<new>.+)"
            ),
        ),
    ),
    (
        _create,
        (
            (
                r"(?:create|write|make|add) (?:an? |the |new )*file (?:called |named )?`?(?P<path>[^\s`,]+)`?,?"
                rf"{_SAYING}(?P<content>.+)"
            ),
            (
                r"(?:创建|新建|写)(?:一个)?(?:新)?文件\s*`?(?P<path>[\w./-]+)`?[，,\s]*"
                r"(?:内容(?:是|为)?|写着|写入|写上)[:：\s]*(?P<content>.+)"
            ),
        ),
    ),
    (
        lambda match: FindText(_first(match)),
        (
            rf"(?:find|grep for|grep|search for|look for) (.+?) in {_IN_FILES}",
            rf"search {_IN_FILES} for (.+)",
            r"在?(?:所有)?文件(?:里面|里|中)?(?:查找|搜索|找)(?:一下)?\s*(.+)",
        ),
    ),
    (
        lambda match: SearchWeb(_first(match)),
        (
            r"search (?:the )?(?:web|internet|net|online)(?: for| about)? (.+)",
            r"(?:look up|google) (.+?)(?: online| on the (?:web|internet))?$",
            r"(?:在网上|上网|网上|网络上?|联网|在?互联网上?)(?:搜索|搜一下|搜|查找|查一下|查)(?:一下)?\s*(.+)",
            r"搜索(?:一下)?(?:网络|网页|互联网)?[:：]?\s*(.+)",
        ),
    ),
    (
        lambda _: RunCommand(TEST_COMMAND),
        (
            r"\brun (?:the |all |my )*(?:unit )?tests?\b",
            r"\btest suite\b",
            r"(?:运行|跑)(?:一下)?(?:所有)?(?:的)?测试",
        ),
    ),
    (
        lambda match: RunCommand(_first(match)),
        (
            r"\b(?:run|execute)\b[^`]*`([^`]+)`",
            r"^(?:please )?(?:run|execute)(?: the)?(?: command)? (.+)$",
            r"(?:运行|执行)(?:一下)?(?:命令)?[:：]?\s*`([^`]+)`",
            r"(?:运行|执行)(?:一下)?命令[:：]?\s*(.+)",
        ),
    ),
    (
        lambda match: Plan(_first(match)),
        (
            r"\b(?:make|write|draft|give me|create)\b.*\bplan\b(?: for| to| of)?(.*)",
            r"(?:制定|制订|写|做)(?:一个|一份)?(.*?)(?:的)?(?:计划|规划)",
        ),
    ),
    (
        lambda _: ReadFiles(SEVERAL),
        (
            r"read (?:several|multiple|some|a few|three|all(?: the)?) (?:of the )?files",
            r"(?:读取|阅读|读)(?:几个|多个|一些|三个)文件",
        ),
    ),
    (
        lambda _: Explore(),
        (
            r"\b(?:explore|look around|get to know)\b",
            r"what is this (?:project|folder|repo\w*)",
            r"(?:了解|看看|探索)(?:一下)?这个项目",
        ),
    ),
    (
        _read,
        (
            rf"\b(?:read|open|show|cat|display|print)\b(?: me)?(?P<files>.*(?:{_FILE}).*)",
            rf"(?:读取|读一下|读|打开|查看|看看|显示)(?P<files>.*(?:{_FILE}).*)",
        ),
    ),
    (
        lambda _: ListFiles(),
        (
            r"\b(?:list|show|what|which)\b.*\b(?:files?|folders?|directory|workspace)\b",
            r"^ls$",
            r"(?:列出|列一下|有哪些|有什么|看看|显示).*(?:文件|目录)",
            r"(?:文件|目录).*(?:有哪些|有什么|列表)",
        ),
    ),
    (
        lambda _: Greet(),
        (r"^(?:hi|hello|hey)\b", r"\b(?:who|what) are you\b", r"^help\b", r"你好|您好|你是谁|帮助"),
    ),
)

_COMPILED: Final = tuple(
    (maker, re.compile(pattern, re.IGNORECASE | re.DOTALL)) for maker, patterns in _RULES for pattern in patterns
)
