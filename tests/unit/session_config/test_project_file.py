"""What a project's file says, and that a fault in it gives nothing away and stops nobody (spec tools.md T9, law 6)."""

import pytest

from openprogram.core.intent import ToolIntent
from openprogram.session_config.layers import Layers, explain, merge
from openprogram.session_config.patches import MAX_PICKED
from openprogram.session_config.project_file import ProjectLayer, read_project
from tests.support.tools import resolved, snapshot

TOO_MANY = [f"t{n}" for n in range(MAX_PICKED + 1)]
FILE = "/ws/.openprogram/project.toml"


def read(text: str) -> ProjectLayer:
    return read_project(FILE, text.encode(), snapshot())


def test_every_field_of_an_intent_can_be_said() -> None:
    text = """
        [tools]
        enabled = true
        toolset = "coding"
        web_search = false
        disabled = ["write", "bash"]
        picked = ["read"]
        allowed = ["web_*"]
    """
    said = ToolIntent(True, "coding", False, ("bash", "write"), ("read",), ("web_*",))
    assert read(text) == ProjectLayer(said)


def test_a_bare_list_picks_and_an_empty_one_switches_off() -> None:
    assert read('tools = ["read", "grep"]') == ProjectLayer(ToolIntent(picked=("read", "grep")))
    assert read("tools = []") == ProjectLayer(ToolIntent(enabled=False))


@pytest.mark.parametrize("text", ["", "# nothing yet", "[tools]"])
def test_a_file_that_says_nothing_wishes_nothing(text: str) -> None:
    assert read(text) == ProjectLayer()


def test_a_byte_order_mark_is_no_part_of_the_file() -> None:
    assert read('\ufeff[tools]\ntoolset = "coding"') == ProjectLayer(ToolIntent(toolset="coding"))


def test_a_tool_that_is_not_installed_here_is_no_fault() -> None:  # T13: it is told as unknown where it counts
    assert read('[tools]\ndisabled = ["of_a_colleague"]') == ProjectLayer(ToolIntent(disabled=("of_a_colleague",)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tools", "not TOML: "),
        ('[tools]\ntoolset = "reserch"', "tools.toolset: there is no preset 'reserch' (choose one of "),
        ("[tools]\ntoolset = 5", "tools.toolset: "),
        ('[tools]\nweb_serch = "x"', "tools.web_serch: an intent has no field 'web_serch'"),
        ('[tools]\ndisabled = ["web_search"]', "tools.disabled: web_search has a switch of its own"),
        (f"[tools]\npicked = {TOO_MANY}", f"tools.picked: a selection holds at most {MAX_PICKED} tools"),
        (f"tools = {TOO_MANY}", f"tools.picked: a selection holds at most {MAX_PICKED} tools"),
        ('tools = "read"', "tools: must be a table or a list of names"),
        ('tools = ["read", 3]', "tools.1: "),
        ("[servers]", "servers: there is no table 'servers'"),
        ("tools = " + "[" * 5_000 + "]" * 5_000, "nested too deeply"),
        ("[tools]\na" + ".a" * 3_000 + " = 1", "tools: an intent is plain JSON (Recursion limit reached)"),
    ],
)
def test_a_fault_names_file_and_field_and_the_chat_only_looks_meanwhile(text: str, said: str) -> None:
    layer = read(text)

    assert layer.fault is not None
    assert layer.fault.startswith(f"{FILE}: {said}")
    assert layer.fault.endswith("Until it is right, the preset safe stands in for it.")
    assert layer.intent == ToolIntent(toolset="safe")


def test_a_fault_gives_back_nothing_that_the_file_takes_away() -> None:  # law 6
    layer = read('[tools]\ntoolset = "reserch"\ndisabled = ["read", 5]')

    assert layer.fault is not None
    assert layer.intent == ToolIntent(toolset="safe", disabled=("read",))
    allowed = resolved(merge(Layers(project=layer.intent)), snapshot())
    assert "bash" not in allowed.names
    assert "read" not in allowed.names


def test_bytes_that_are_no_text_are_a_fault() -> None:
    fault = read_project(FILE, b"\xff", snapshot()).fault
    assert fault is not None
    assert fault.startswith(f"{FILE}: not UTF-8 text (byte 0)")


def test_the_chat_decides_over_its_project_and_the_project_over_the_profile() -> None:  # T9
    project = read('[tools]\ntoolset = "coding"\nweb_search = true\ndisabled = ["bash"]').intent
    layers = Layers(
        session=ToolIntent(web_search=False),
        project=project,
        profile=ToolIntent(toolset="research", disabled=("write",)),
    )

    assert merge(layers) == ToolIntent(toolset="coding", web_search=False, disabled=("bash", "write"))
    assert explain(layers, "toolset").layer == "project"
    assert explain(layers, "web_search").layer == "session"


@pytest.mark.parametrize("number", ["inf", "-inf", "nan"])
@pytest.mark.parametrize("field", ["enabled", "web_search", "toolset", "picked", "disabled", "allowed"])
@pytest.mark.parametrize("shape", ["{}", "[{}]", "{{ a = {} }}"])
def test_a_number_that_json_cannot_hold_is_a_fault_and_not_nothing(number: str, field: str, shape: str) -> None:
    layer = read(f"[tools]\n{field} = {shape.format(number)}")
    assert layer.fault is not None
    assert field in layer.fault
    assert layer.intent.toolset == "safe"


def test_a_bare_list_with_such_a_number_is_a_fault() -> None:
    assert read('tools = ["read", nan]').fault is not None
