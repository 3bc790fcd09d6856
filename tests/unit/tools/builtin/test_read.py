"""`read`: bounded windows of text with the numbers of their lines."""

import pytest

from openprogram.tools.builtin.output import output_file
from openprogram.tools.builtin.read import read_tool
from openprogram.tools.builtin.text import MAX_LINE
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
def read(tmp_path):
    return read_tool(tmp_path / "outputs")


@pytest.fixture
def call(tmp_path):
    (tmp_path / "ws").mkdir()
    return Caller(tmp_path / "ws")


async def test_a_short_file_is_shown_whole_with_numbers(read, call):
    (call.workspace / "a.txt").write_text("one\ntwo\n\nfour")
    output = await call(read, path="a.txt")
    assert text_of(output) == "1\tone\n2\ttwo\n3\t\n4\tfour"
    assert display_of(output) == {"path": "a.txt", "lines": 4, "first": 1, "total": 4}


async def test_a_window_says_how_to_go_on(read, call):
    (call.workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    output = await call(read, path="a.txt", offset=4, limit=2)
    assert text_of(output) == "4\tline 4\n5\tline 5\n[lines 4 to 5 of 10; go on with offset 6]"
    last = await call(read, path="a.txt", offset=9, limit=5)
    assert text_of(last) == "9\tline 9\n10\tline 10"


async def test_the_windows_of_a_long_file_put_together_are_the_file(read, call):
    lines = [f"{n} {'x' * (n % 90)}" for n in range(3_000)]
    (call.workspace / "long").write_text("\n".join(lines) + "\n")
    seen: list[str] = []
    while len(seen) < len(lines):
        output = await call(read, path="long", offset=len(seen) + 1)
        assert len(text_of(output)) < 30_000
        seen += [line.split("\t", 1)[1] for line in text_of(output).split("\n") if not line.startswith("[")]
    assert seen == lines


async def test_a_line_of_any_length_is_cut(read, call):
    (call.workspace / "min.js").write_text("x" * 5_000_000 + "\nafter\n")
    output = await call(read, path="min.js")
    assert text_of(output) == f"1\t{'x' * MAX_LINE}\n2\tafter\n[lines longer than {MAX_LINE} characters are cut]"


@pytest.mark.parametrize("length", [MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, MAX_LINE + 2, MAX_LINE + 3])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
async def test_lines_near_the_limit_are_cut_there(read, call, length, end):
    (call.workspace / "f").write_bytes(("y" * length + end).encode())
    text = text_of(await call(read, path="f"))
    assert text.split("\n")[0] == f"1\t{'y' * min(length, MAX_LINE)}"
    assert ("are cut" in text) is (length > MAX_LINE)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9\n", "café"),
        ("café\n".encode("utf-16"), "café"),
        (b"\xfe\xff" + "café\n".encode("utf-16-be"), "café"),
        (b"one\r\n", "one"),
    ],
)
async def test_encodings_and_line_ends(read, call, data, shown):
    (call.workspace / "f").write_bytes(data)
    assert text_of(await call(read, path="f")) == f"1\t{shown}"


async def test_bytes_that_are_no_text_are_marked(read, call):
    (call.workspace / "latin").write_bytes(b"caf\xe9\n")
    assert text_of(await call(read, path="latin")).split("\n") == [
        "1\tcaf\ufffd",
        "[some bytes are not valid text and stand as \ufffd]",
    ]


async def test_a_binary_file_is_said_to_be_one(read, call):
    (call.workspace / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert "is a binary file" in await call.fails(read, path="a.png")


async def test_an_empty_file_and_a_line_beyond_the_end(read, call):
    (call.workspace / "empty").touch()
    (call.workspace / "two").write_text("a\nb\n")
    assert text_of(await call(read, path="empty")) == "empty is empty."
    assert "has 2 lines" in await call.fails(read, path="two", offset=3)
    assert "start at 1" in await call.fails(read, path="two", offset=0)
    assert "start at 1" in await call.fails(read, path="two", limit=-1)


async def test_a_file_too_long_to_count_is_shown_without_a_total(read, call, monkeypatch):
    monkeypatch.setattr("openprogram.tools.builtin.text._COUNTED", 50)
    (call.workspace / "log").write_text("x\n" * 100)
    output = await call(read, path="log", limit=2)
    assert text_of(output).endswith("[lines 1 to 2; go on with offset 3]")
    assert display_of(output)["total"] is None


async def test_the_chats_own_outputs_can_be_opened_and_no_other_chats(read, call, tmp_path):
    own = output_file(tmp_path / "outputs", call.session_id, "c_1")
    other = output_file(tmp_path / "outputs", "s_other", "c_1")
    own.write_text("mine\n")
    other.write_text("theirs\n")
    assert text_of(await call(read, path=str(own))) == "1\tmine"
    assert "outside" in await call.fails(read, path=str(other))


async def test_links_out_of_the_workspace_show_nothing(read, call, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (call.workspace / "link").symlink_to(tmp_path / "secret")
    assert "outside" in await call.fails(read, path="link")
