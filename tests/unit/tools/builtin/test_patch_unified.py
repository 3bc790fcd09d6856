"""A unified diff is a patch too."""

import pytest

from openprogram.tools.builtin.apply_patch import apply_patch_tool
from tests.support.tool_calls import Caller, contents

apply_patch = apply_patch_tool(None)

GREET = "def greet():\n    return 'hi'\n"


@pytest.fixture
def call(tmp_path):
    (tmp_path / "app.py").write_text(GREET)
    (tmp_path / "old.txt").write_text("one\ntwo\n")
    return Caller(tmp_path)


UNIFIED = """\
diff --git a/app.py b/app.py
index 111..222 100644
--- a/app.py
+++ b/app.py
@@ -1,99 +1,2 @@ wrong counts are common
 def greet():
-    return 'hi'
+    return 'hello'
diff --git a/old.txt b/kept.txt
similarity index 90%
rename from old.txt
rename to kept.txt
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,2 @@
+a
+b
\\ No newline at end of file
"""


async def test_a_unified_diff_works_too(call):
    await call(apply_patch, patch=UNIFIED)
    assert (call.workspace / "app.py").read_text() == GREET.replace("hi", "hello")
    assert (call.workspace / "kept.txt").read_text() == "one\ntwo\n"
    assert (call.workspace / "new.txt").read_text() == "a\nb"
    await call(apply_patch, patch="--- a/new.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n")
    assert sorted(contents(call.workspace)) == ["app.py", "kept.txt"]


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("just words", "expected `--- a` and `+++ b`"),
        ("--- a/app.py\n+++ b/app.py\n", "neither hunks nor a new name"),
        ("--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\nreturn\n", "line 4: a line of a hunk begins with"),
        ("--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n", "a hunk has no lines"),
        ('--- "a/\\303.py"\n+++ b/app.py\n@@ -1 +1 @@\n-x\n+y\n', "quotes the name"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "cannot be applied here"),
    ],
)
async def test_a_broken_unified_diff_is_refused(call, patch, said):
    before = contents(call.workspace)
    assert said in await call.fails(apply_patch, patch=patch)
    assert contents(call.workspace) == before


async def test_counts_decide_about_lines_that_look_like_a_head(call):
    (call.workspace / "q.sql").write_text("-- a\nx\n")
    await call(apply_patch, patch="--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n x\n")
    assert (call.workspace / "q.sql").read_text() == "++ b\nx\n"
    first = "--- a/q.sql\n+++ b/q.sql\n@@ -1,9 +1,9 @@\n-x\n+y\n"
    two = f"{first}--- a/old.txt\n+++ b/old.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
    await call(apply_patch, patch=two)
    assert (call.workspace / "q.sql").read_text() == "++ b\ny\n"
    assert (call.workspace / "old.txt").read_text() == "1\ntwo\n"


async def test_the_line_number_decides_among_several_places(call):
    (call.workspace / "same.txt").write_text("x\n" * 9)
    await call(apply_patch, patch="--- a/same.txt\n+++ b/same.txt\n@@ -5 +5 @@\n-x\n+five\n")
    assert (call.workspace / "same.txt").read_text().splitlines().index("five") == 4
