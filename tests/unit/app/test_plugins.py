"""Packages bring tools by entry points: real packages on the import path, as an installer leaves them."""

import asyncio
import builtins
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from openprogram.app.plugins import GROUP, Plugins, following_packages, installed
from openprogram.tools.registry import Registry
from tests.support.tools import BUILTIN
from tests.support.tree import write_tree
from tests.support.ws import WAIT_S

TOOL = '''
from openprogram.tools import ToolContext, tool


@tool(readonly=True)
async def {name}(context: ToolContext, place: str) -> str:
    """Tell about a place.

    Args:
        place: Where
    """
    return place
'''

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a package on the import path: `install("openprogram-sea", "sea = sea:tides", {"sea.py": ...})`."""
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)

    def put(package: str, points: str, files: dict[str, str]) -> None:
        info = f"{package.replace('-', '_')}-1.0.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nSummary: About {package}\n"
        write_tree(tmp_path, {f"{info}/METADATA": metadata, f"{info}/entry_points.txt": f"[{GROUP}]\n{points}\n"})
        write_tree(tmp_path, files)

    yield put
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


async def registered(**patience: float) -> Registry:
    """A registry with the built-in tools and the installed plug-ins."""
    made = Registry()
    made.put("builtin", BUILTIN)
    await Plugins(made, **patience).read()
    return made


async def test_each_entry_point_is_a_source_of_its_own(install: Install) -> None:
    install("openprogram-sea", "sea = sea_tools:tides", {"sea_tools.py": TOOL.format(name="tides")})
    both = TOOL.format(name="stars") + TOOL.format(name="planets") + "\nTOOLS = [stars, planets]\n"
    install("openprogram-sky", "sky = sky_tools:TOOLS", {"sky_tools.py": both})
    snapshot = (await registered()).snapshot

    added = {tool.name: tool.source for tool in snapshot.tools if tool.source != "builtin"}
    assert added == {"tides": "plugin:sea", "stars": "plugin:sky", "planets": "plugin:sky"}
    assert snapshot.about == {"plugin:sea": "About openprogram-sea", "plugin:sky": "About openprogram-sky"}
    assert snapshot.problems == {}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import a_module_that_is_nowhere", "No module named 'a_module_that_is_nowhere'"),
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import sys\nsys.exit('not on this machine')", "SystemExit: not on this machine"),
        ("class Panic(BaseException): pass\nraise Panic('as Rust does')", "Panic: as Rust does"),
        ("def tides(", "SyntaxError"),
        ("", "AttributeError"),
    ],
)
async def test_a_plugin_that_cannot_be_imported_is_named_and_keeps_nobody_else_away(
    install: Install, source: str, said: str
) -> None:  # law 10
    install("openprogram-broken", "broken = broken_tools:tides", {"broken_tools.py": source})
    install("openprogram-sea", "sea = sea_tools:tides", {"sea_tools.py": TOOL.format(name="tides")})
    with capture_logs() as logs:
        snapshot = (await registered()).snapshot

    assert [tool.name for tool in snapshot.tools if tool.source == "plugin:sea"] == ["tides"]
    assert list(snapshot.problems) == ["plugin:broken"]
    (problem,) = snapshot.problems["plugin:broken"]
    assert problem.startswith("openprogram-broken 1.0 cannot be imported: ")
    assert said in problem
    assert [line["problem"] for line in logs if line["event"] == "plugin_problem"] == [problem]
    assert [line["log_level"] for line in logs if line["event"] == "plugin_failed"] == ["error"]


async def test_a_tool_that_asks_for_a_name_of_the_program_is_refused_and_the_others_stay(install: Install) -> None:
    taken = TOOL.format(name="bash") + TOOL.format(name="tides") + "\nTOOLS = [bash, tides]\n"
    install("openprogram-sea", "sea = sea_tools:TOOLS", {"sea_tools.py": taken})
    snapshot = (await registered()).snapshot

    assert [tool.name for tool in snapshot.tools if tool.source == "plugin:sea"] == ["tides"]
    bash = snapshot.get("bash")
    assert bash is not None
    assert bash.source == "builtin"
    assert snapshot.problems == {"plugin:sea": ("bash is left out: a built-in tool has this name",)}


async def test_an_entry_point_to_something_else_says_what_to_do(install: Install) -> None:
    install("openprogram-sea", "sea = sea_tools:tides", {"sea_tools.py": "def tides(): pass"})
    (problem,) = (await registered()).snapshot.problems["plugin:sea"]

    assert problem.startswith("openprogram-sea 1.0 is left out: it publishes tides, which is neither a tool nor a list")
    assert "decorate the function with @tool" in problem


async def test_of_two_packages_with_one_name_for_their_plugin_the_first_is_loaded(install: Install) -> None:
    for place in ("north", "south"):
        tool = TOOL.format(name=place)
        install(f"openprogram-{place}", f"sea = {place}_tools:{place}", {f"{place}_tools.py": tool})
    snapshot = (await registered()).snapshot

    assert [tool.name for tool in snapshot.tools if tool.source == "plugin:sea"] == ["north"]
    (problem,) = snapshot.problems["plugin:sea"]
    assert problem == "openprogram-south 1.0 is left out: openprogram-north 1.0 has a plug-in of this name"


def test_a_package_that_is_there_twice_counts_once(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("openprogram-sea", "sea = sea_tools:tides", {"sea_tools.py": TOOL.format(name="tides")})
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert [(one.source, one.package) for one in installed()] == [("plugin:sea", "openprogram-sea 1.0")]


HANGS = "import builtins\n\nbuiltins.tests_go_on.wait()\n"


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Lets the imports that hang end; at the latest with the test."""
    event = threading.Event()
    monkeypatch.setattr(builtins, "tests_go_on", event, raising=False)
    yield event
    event.set()


class Told:
    """A log that can be waited for."""

    def __init__(self) -> None:
        self.warned, self.warnings = asyncio.Event(), list[dict[str, object]]()

    def warning(self, event: str, **fields: object) -> None:
        self.warnings.append({"event": event, **fields})
        self.warned.set()

    def info(self, event: str, **fields: object) -> None:
        """Of no interest here."""


async def test_an_import_that_takes_long_is_named_while_the_start_waits_for_it(
    install: Install, go_on: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("openprogram-sea", "sea = slow_sea:tides", {"slow_sea.py": HANGS + TOOL.format(name="tides")})
    told = Told()
    monkeypatch.setattr("openprogram.app.plugins._log", told)
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(registered(slow_s=0.01, most_s=3600))
        await told.warned.wait()
        assert not starting.done()
        go_on.set()
    (slow,) = told.warnings
    assert (slow["event"], slow["source"], slow["package"]) == ("plugin_slow", "plugin:sea", "openprogram-sea 1.0")
    snapshot = starting.result().snapshot
    assert [tool.name for tool in snapshot.tools if tool.source == "plugin:sea"] == ["tides"]
    assert snapshot.problems == {}


async def test_an_import_that_never_ends_is_left_out_and_told_and_keeps_nobody_else_away(
    install: Install, go_on: threading.Event
) -> None:
    install("openprogram-deep", "deep = hung_deep:tides", {"hung_deep.py": HANGS + TOOL.format(name="depths")})
    install("openprogram-sea", "sea = sea_tools:tides", {"sea_tools.py": TOOL.format(name="tides")})
    snapshot = (await registered(slow_s=0.01, most_s=3)).snapshot

    assert not go_on.is_set()
    assert [tool.name for tool in snapshot.tools if tool.source != "builtin"] == ["tides"]
    (problem,) = snapshot.problems["plugin:deep"]
    assert problem == "openprogram-deep 1.0 is left out: its import did not end within 3 s"


def names(registry: Registry) -> list[str]:
    """The tools of plug-ins."""
    return [tool.name for tool in registry.snapshot.tools if tool.source != "builtin"]


async def until(registry: Registry, expected: list[str]) -> None:
    """Wait until the plug-ins' tools are these."""
    changed = asyncio.Event()
    stop = registry.subscribe(lambda _: changed.set())
    async with asyncio.timeout(WAIT_S):
        while names(registry) != expected:
            await changed.wait()
            changed.clear()
    stop()


async def test_packages_come_and_go_while_the_program_runs(install: Install, tmp_path: Path) -> None:
    made = Registry()
    made.put("builtin", BUILTIN)
    install("openprogram-sea", "sea = live_sea:tides", {"live_sea.py": TOOL.format(name="tides")})
    async with following_packages(made, poll_s=0.01):
        assert names(made) == ["tides"]
        install("openprogram-hill", "hill = live_hill:slopes", {"live_hill.py": TOOL.format(name="slopes")})
        await until(made, ["slopes", "tides"])
        shutil.rmtree(tmp_path / "openprogram_sea-1.0.dist-info")
        await until(made, ["slopes"])
        assert made.snapshot.problems == {}


async def test_an_import_that_failed_is_tried_again_once_a_package_came(install: Install, tmp_path: Path) -> None:
    made = Registry()
    made.put("builtin", BUILTIN)
    plugins = Plugins(made)
    needs = "import late_charts\n" + TOOL.format(name="tides")
    install("openprogram-sea", "sea = needy_sea:tides", {"needy_sea.py": needs})
    await plugins.read()
    assert names(made) == []
    assert "late_charts" in made.snapshot.problems["plugin:sea"][0]
    write_tree(tmp_path, {"late_charts.py": ""})
    await plugins.read()
    assert names(made) == ["tides"]
    assert made.snapshot.problems == {}


async def test_a_package_that_was_upgraded_runs_as_it_was_and_says_so(install: Install, tmp_path: Path) -> None:
    made = Registry()
    made.put("builtin", BUILTIN)
    plugins = Plugins(made)
    install("openprogram-sea", "sea = old_sea:tides", {"old_sea.py": TOOL.format(name="tides")})
    await plugins.read()
    info = tmp_path / "openprogram_sea-1.0.dist-info"
    metadata = (info / "METADATA").read_text().replace("Version: 1.0", "Version: 1.1")
    write_tree(tmp_path, {"old_sea.py": TOOL.format(name="floods")})
    (info / "METADATA").write_text(metadata)
    info.rename(tmp_path / "openprogram_sea-1.1.dist-info")
    await plugins.read()
    assert names(made) == ["tides"]
    (problem,) = made.snapshot.problems["plugin:sea"]
    assert problem == "openprogram-sea 1.1 is installed: start the server again, it still runs openprogram-sea 1.0"
