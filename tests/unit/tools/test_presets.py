import pytest

from openprogram.core.errors import ConfigError
from openprogram.core.jsonio import JsonValue
from openprogram.core.tooling import Preset
from openprogram.tools.presets import BUILTIN_PRESETS, combine, expand, read_presets
from tests.support.tools import BRAVE, BUILTIN, WEATHER, snapshot, spec

TOOLS = snapshot(("plugin:weather", [WEATHER]), ("mcp:brave", [BRAVE])).tools


def expanded(*entries: str, includes: tuple[str, ...] = (), others: tuple[Preset, ...] = ()) -> tuple[str, ...]:
    presets = combine([*others, Preset("x", "X", entries=entries, includes=includes)])
    return expand("x", presets, TOOLS).names


@pytest.mark.parametrize(
    ("preset", "names"),
    [
        ("default", ("bash", "read", "weather", "web_fetch", "write")),
        ("full", tuple(tool.name for tool in TOOLS)),
        ("coding", ("bash", "read", "write")),
        ("research", ("memory_search", "read", "web_fetch", "web_search")),
        ("browser", ()),
        ("safe", ("memory_search", "read")),
        ("none", ()),
    ],
)
def test_built_in_presets(preset: str, names: tuple[str, ...]) -> None:  # T14
    assert expand(preset, combine(), TOOLS).names == names


def test_a_built_in_preset_names_no_tool() -> None:  # T14: it names only what exists
    for preset in BUILTIN_PRESETS:
        assert expand(preset.name, combine(), ()).unknown == ()


def test_safe_has_no_shell_no_write_and_no_network() -> None:  # T14
    for tool in TOOLS:
        if tool.name in expand("safe", combine(), TOOLS).names:
            assert tool.readonly
            assert not tool.network
            assert tool.permission == "none"


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        (("read",), ("read",)),
        (("web_*",), ("web_fetch", "web_search")),
        (("@plugin",), ("weather",)),
        (("@plugin:weather",), ("weather",)),
        (("@plugin:other",), ()),
        (("@mcp",), ("mcp__brave__search",)),
        (("@mcp:brave",), ("mcp__brave__search",)),
        (("@builtin", "-@network", "-@readonly"), ("bash", "write")),
        (("@provides:web_search",), ("mcp__brave__search", "web_search")),
        (("@preset:coding", "weather"), ("bash", "read", "weather", "write")),
        (("@resident", "-bash", "-w*"), ("read",)),
        (("-read", "read"), ("read",)),
        (("read", "-read"), ()),
    ],
)
def test_entries(entries: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert expanded(*entries) == names


def test_includes_are_recursive_and_come_first() -> None:
    base = Preset("base", "Base", entries=("read", "bash"))
    middle = Preset("middle", "Middle", entries=("write",), includes=("base",))

    assert expanded("-bash", "weather", includes=("middle",), others=(base, middle)) == ("read", "weather", "write")


def test_what_an_included_preset_takes_away_it_takes_from_itself_only() -> None:
    careful = Preset("careful", "Careful", entries=("*", "-bash"))

    assert "bash" in expanded("bash", includes=("careful",), others=(careful,))
    assert "bash" in expanded(includes=("careful", "coding"), others=(careful,))


def test_a_ladder_of_includes_is_walked_once() -> None:
    ladder = [Preset("p0", "P", entries=("read",))]
    for step in range(1, 200):
        below = f"p{step - 1}"
        ladder.append(Preset(f"p{step}", "P", includes=(below, below)))

    assert expand("p199", combine(ladder), TOOLS).names == ("read",)


def test_a_circle_is_a_configuration_error_with_the_path() -> None:  # T14
    circle = [Preset(name, "P", includes=(after,)) for name, after in (("a", "b"), ("b", "c"), ("c", "b"))]

    with pytest.raises(ConfigError, match="include each other: b > c > b"):
        combine(circle)
    with pytest.raises(ConfigError, match="x > x"):
        combine([Preset("x", "X", includes=("x",))])
    longer = [Preset(name, "P", includes=(after,)) for name, after in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"))]
    with pytest.raises(ConfigError, match="b > c > d > b"):
        combine(longer)


def test_an_include_that_leads_nowhere_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="'x' includes 'nowhere'") as caught:
        combine([Preset("x", "X", includes=("nowhere",))])

    assert caught.value.field == "presets.x.includes"


def test_names_that_no_tool_has_are_told() -> None:  # T13
    presets = combine([Preset("x", "X", entries=("read", "gone", "-lost", "none_*", "@mcp:gone"))])

    assert expand("x", presets, TOOLS).unknown == ("gone", "lost")


@pytest.mark.parametrize("name", [preset.name for preset in BUILTIN_PRESETS])
def test_a_built_in_preset_cannot_be_replaced(name: str) -> None:
    with pytest.raises(ConfigError, match="built in"):
        combine([Preset(name, "Mine")])


def test_one_name_is_one_preset() -> None:
    with pytest.raises(ConfigError, match="defined already"):
        combine([Preset("x", "X")], [Preset("x", "X", source="user")])


@pytest.mark.parametrize("entry", ["@readonyl", "@", "", "-", "-@nothing", "@mcp:", "@resident:x"])
def test_an_entry_that_means_nothing_is_a_configuration_error(entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        expanded(entry)

    assert caught.value.field == "presets.x.entries"


def test_presets_are_read_from_data() -> None:
    data: JsonValue = {
        "review": {"title": "Review", "description": "Look", "entries": ["read"], "includes": ["safe"]},
        "bare": {},
    }

    assert read_presets(data, "config") == (
        Preset("review", "Review", "Look", ("read",), ("safe",), "config"),
        Preset("bare", "bare", source="config"),
    )


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ([], "presets"),
        ({"x": []}, "presets.x"),
        ({"/": {}}, "presets./"),
        ({"x": {"tools": []}}, "presets.x.tools"),
        ({"x": {"entries": "read"}}, "presets.x.entries"),
        ({"x": {"includes": ["safe", 3]}}, "presets.x.includes.1"),
        ({"x": {"title": None}}, "presets.x.title"),
    ],
)
def test_data_that_cannot_be_read_is_an_error_with_its_path(data: JsonValue, field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_presets(data, "user")

    assert caught.value.field == field


def test_a_preset_is_live() -> None:  # T5
    presets = combine()
    added = spec("brand_new", residency="resident", presets=("coding",), readonly=True)

    for name in ("default", "full", "coding", "safe"):
        assert "brand_new" in expand(name, presets, [*BUILTIN, added]).names
        assert "brand_new" not in expand(name, presets, BUILTIN).names
