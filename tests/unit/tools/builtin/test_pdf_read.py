"""`pdf_read`: text by pages; a file that is encrypted, damaged or hostile is a clear failure and nothing more."""

import asyncio
import sys
import zlib
from pathlib import Path

import pytest

from openprogram.tools.builtin import isolated
from openprogram.tools.builtin import pdf_read as module
from openprogram.tools.builtin.pdf_read import BUDGET, pdf_read
from tests.support.pdf import encrypted, pdf
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
def call(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf(["One\nand a line", "Two", "", "Four"]))
    return Caller(tmp_path)


async def test_pages_are_shown_with_their_numbers(call):
    output = await call(pdf_read, path="a.pdf")
    assert text_of(output) == ("[page 1 of 4]\nOne\nand a line\n[page 2 of 4]\nTwo\n[page 3 of 4]\n[page 4 of 4]\nFour")
    assert display_of(output) == {"path": "a.pdf", "pages": 4, "first": 1, "shown": 4}


async def test_a_range_is_shown_and_what_cannot_be_is_said(call):
    assert text_of(await call(pdf_read, path="a.pdf", first=2, last=2)) == "[page 2 of 4]\nTwo"
    assert text_of(await call(pdf_read, path="a.pdf", first=4, last=9)) == "[page 4 of 4]\nFour"
    assert "no text on these pages" in text_of(await call(pdf_read, path="a.pdf", first=3, last=3))
    assert await call.fails(pdf_read, path="a.pdf", first=5) == "a.pdf has 4 pages; there is no page 5."
    assert "first starts at 1" in await call.fails(pdf_read, path="a.pdf", first=0)
    assert "first starts at 1" in await call.fails(pdf_read, path="a.pdf", first=3, last=2)


async def test_what_is_long_goes_on_page_by_page_until_all_was_shown(call):
    pages = ["\n".join(f"page {number} line {line}" for line in range(400)) for number in range(1, 13)]
    (call.workspace / "long.pdf").write_bytes(pdf(pages))
    seen: list[str] = []
    first = 1
    while True:
        text = text_of(await call(pdf_read, path="long.pdf", first=first))
        assert len(text) < BUDGET + 2_000
        body, _, note = text.partition("\n[go on with first ")
        seen += [line for line in body.splitlines() if not line.startswith("[page ")]
        if not note:
            break
        first = int(note.rstrip("]"))
    assert seen == "\n".join(pages).splitlines()


async def test_a_page_longer_than_all_that_is_shown_is_cut(call):
    (call.workspace / "huge.pdf").write_bytes(pdf(["\n".join("x" * 100 for _ in range(1_000)), "Two"]))
    text = text_of(await call(pdf_read, path="huge.pdf"))
    assert "it is cut]\n[go on with first 2]" in text
    assert len(text) < BUDGET + 200


async def test_a_document_that_anyone_may_open_is_opened_and_one_with_a_password_is_not(call):
    plain = (call.workspace / "a.pdf").read_bytes()
    (call.workspace / "open.pdf").write_bytes(encrypted(plain, user_password=""))
    (call.workspace / "locked.pdf").write_bytes(encrypted(plain, user_password="secret"))
    assert "Two" in text_of(await call(pdf_read, path="open.pdf"))
    assert await call.fails(pdf_read, path="locked.pdf") == "locked.pdf is encrypted: it needs a password."


async def test_what_is_no_pdf_or_damaged_says_so(call):
    (call.workspace / "a.txt").write_text("words")
    assert await call.fails(pdf_read, path="a.txt") == "a.txt is no PDF."
    whole = (call.workspace / "a.pdf").read_bytes()
    for name, data in {
        "head.pdf": b"%PDF-1.7\n",
        "half.pdf": whole[: len(whole) // 2],
        "noise.pdf": b"%PDF-1.7\n" + bytes(range(256)) * 40,
        "loop.pdf": whole.replace(b"/Kids [4 0 R", b"/Kids [2 0 R"),
        "bomb.pdf": pdf([""], packed=zlib.compress(bytes(100_000_000))),
    }.items():
        (call.workspace / name).write_bytes(data)
        said = await call.fails(pdf_read, path=name)
        assert "damaged" in said, name
        assert not {*"<>"} & {*said}, said  # nothing of how Python writes its objects
    (call.workspace / "root.pdf").write_bytes(whole.replace(b"/Root 1 0 R", b"/Root 9 0 R"))
    assert "Two" in text_of(await call(pdf_read, path="root.pdf"))  # what can be mended is mended
    assert "does not exist" in await call.fails(pdf_read, path="gone.pdf")
    assert "outside" in await call.fails(pdf_read, path="../x.pdf")
    assert "is a directory" in await call.fails(pdf_read, path=".")


async def test_a_reader_that_crashes_or_hangs_takes_nothing_with_it(call, tmp_path, monkeypatch):
    crash, hang = tmp_path / "crash.py", tmp_path / "hang.py"
    crash.write_text("import os; os.abort()")
    hang.write_text("import time\ntime.sleep(600)")
    monkeypatch.setattr(module, "_SCRIPT", crash)
    assert "damaged, or larger inside" in await call.fails(pdf_read, path="a.pdf")
    monkeypatch.setattr(module, "_SCRIPT", hang)
    monkeypatch.setattr(isolated, "TIMEOUT_S", 0.5)
    assert "takes too long" in await call.fails(pdf_read, path="a.pdf")


@pytest.mark.parametrize("name", ["pdf_text.py", "image_scale.py"])
async def test_the_reader_has_bounds_of_its_own(name):
    """Set in the child; a document of a few bytes that unpacks to gigabytes meets them, whatever the library allows."""
    script = Path(module.__file__).with_name(name)
    code = (
        "import resource, runpy\n"
        f"reader = runpy.run_path({str(script)!r})\n"
        "reader['_limit']()\n"
        "print(resource.getrlimit(resource.RLIMIT_CPU)[0], resource.getrlimit(resource.RLIMIT_AS)[0])"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    seconds, memory = map(int, output.split())
    assert 0 < seconds <= 60
    assert 0 < memory <= 3_000_000_000
