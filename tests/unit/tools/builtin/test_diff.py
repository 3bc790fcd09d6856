"""Unified differences."""

from openprogram.tools.builtin.diff import unified


def test_equal_texts_differ_in_nothing():
    assert unified("f", "a\nb\n", "a\nb\n").text == ""


def test_hunks_have_three_lines_around_and_true_numbers():
    before = "".join(f"{n}\n" for n in range(1, 41))
    after = before.replace("\n20\n", "\ntwenty\n").replace("\n22\n", "\n22\nnew\n")
    assert unified("f", before, after).text == (
        "--- a/f\n+++ b/f\n@@ -17,9 +17,10 @@\n 17\n 18\n 19\n-20\n+twenty\n 21\n 22\n+new\n 23\n 24\n 25\n"
    )


def test_a_missing_last_line_end_is_marked():
    assert unified("f", "a", "a\n").text == ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n")


def test_lines_that_look_like_headers_are_counted_as_what_they_are():
    diff = unified("f", "-- a\n++ b\n", "x\n")
    assert (diff.added, diff.removed) == (1, 2)


def test_a_long_difference_is_cut_at_a_line_and_counted_whole():
    diff = unified("f", "", "".join(f"line {n}\n" for n in range(20_000)))
    assert diff.left_out == 20_003 - diff.text.count("\n")
    assert len(diff.text) <= 100_000
    assert diff.text.endswith("\n")
    assert diff.added == 20_000


def test_long_stretches_that_differ_everywhere_take_no_matching():
    before = "".join(f"{'ab'[n % 2]}{n % 7}\n" for n in range(30_000))
    after = "".join(f"{'ba'[n % 2]}{n % 5}\n" for n in range(30_000))
    diff = unified("f", f"same\n{before}end\n", f"same\n{after}end\n")
    assert (diff.added, diff.removed) == (30_000, 30_000)
