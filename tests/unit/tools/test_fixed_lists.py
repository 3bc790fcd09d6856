"""Lists that look like a copy of a preset, as older programs stored them in place of a wish."""

from dataclasses import replace

import pytest

from openprogram.core.intent import ToolIntent
from openprogram.core.protocol.tool_frames import FollowOffer
from openprogram.core.tooling import Preset, Snapshot
from openprogram.tools.fixed_lists import follow_offer
from tests.support.tools import snapshot, spec

FILES = tuple(f"file_{n:02d}" for n in range(12))
SERVER = tuple(f"weather_{n:02d}" for n in range(10))
PRESETS = (Preset("files", "Files", entries=("file_*",)), Preset("all", "All", entries=("*", "-web_search")))
NOW = snapshot(
    ("plugin:files", [spec(name) for name in FILES]),
    ("mcp:weather", [spec(name) for name in SERVER]),
    presets=PRESETS,
)


def offer(*names: str, now: Snapshot = NOW, web_search: bool | None = None) -> FollowOffer | None:
    return follow_offer(ToolIntent(web_search=web_search, picked=names), now)


def test_a_copy_of_a_preset_is_offered_that_preset() -> None:
    assert offer(*FILES) == FollowOffer(preset="files", web_search=False)
    assert offer(*reversed(FILES)) == FollowOffer(preset="files", web_search=False)


def test_a_copy_that_is_behind_is_one_still() -> None:
    assert offer(*FILES[:9]) == FollowOffer(preset="files", web_search=False)  # three came since: three quarters
    assert offer(*FILES[:11], "gone", "gone_too") == FollowOffer(preset="files", web_search=False)
    assert offer(*FILES[:10], "bash") == FollowOffer(preset="files", web_search=False)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(FILES[:8], id="two thirds of the preset"),
        pytest.param((*FILES[:10], "weather_00", "weather_01"), id="too much that is not in it"),
        pytest.param(("bash", "read", "write"), id="short: a person's own selection"),
        pytest.param((), id="nothing picked"),
        pytest.param(tuple(f"gone_{n}" for n in range(20)), id="none of it exists"),
    ],
)
def test_a_selection_is_no_copy(names: tuple[str, ...]) -> None:
    assert offer(*names) is None


def test_a_chat_without_a_list_is_offered_nothing() -> None:
    assert follow_offer(ToolIntent(toolset="files"), NOW) is None


def test_a_server_that_came_since_does_not_hide_the_copy() -> None:
    builtin = ("bash", "read", "write", "web_fetch", "memory_search")
    assert offer(*builtin, *FILES) == FollowOffer(preset="all", web_search=False)


def test_of_several_presets_it_is_the_nearest() -> None:
    nearer = replace(NOW, presets={**NOW.presets, "some": Preset("some", "Some", entries=FILES[:10])})
    assert offer(*FILES[:10], now=nearer) == FollowOffer(preset="some", web_search=False)
    assert offer(*FILES, now=nearer) == FollowOffer(preset="files", web_search=False)


def test_the_search_that_the_chip_put_into_the_copy_comes_along() -> None:
    assert offer(*FILES, "web_search") == FollowOffer(preset="files", web_search=True)
    assert offer(*FILES, "web_search", web_search=True) == FollowOffer(preset="files", web_search=False)
    assert offer(*FILES, "web_search", web_search=False) == FollowOffer(preset="files", web_search=False)
    with_it = replace(NOW, presets={"net": Preset("net", "Net", entries=("file_*", "web_search"))})
    assert offer(*FILES, "web_search", now=with_it) == FollowOffer(preset="net", web_search=False)
