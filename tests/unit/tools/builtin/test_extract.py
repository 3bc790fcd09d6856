"""Readable text out of pages, whole and broken."""

import pytest

from openprogram.tools.builtin.extract import decoded, extract_page, is_html, pretty_json, without


def test_scripts_and_styles_go_whatever_is_in_them():
    source = "a<script>if (x < 1) { '</p>' }</script >b<STYLE type='x'>p > a</STYLE>c<svg/>d</svg>e<scripture>f"
    assert without(source, ("script", "style", "svg")) == "abce<scripture>f"


def test_what_is_never_closed_takes_the_rest():
    assert without("a<script>b", ("script",)) == "a"
    assert without("a<script>b</script", ("script",)) == "a"
    assert without("a" + "<script>" * 100_000, ("script",)) == "a"


def test_letters_whose_lower_case_is_longer_leave_the_page_alone():
    source = "İ<script>x</script>"
    assert without(source, ("script",)) == source


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title>A</title>", "A"),
        ("<TITLE lang=en>\n A \n B </TITLE>", "A B"),
        ("<title>A &lt; B", "A < B"),
        ("<title></title>", None),
        ("<p>none</p>", None),
    ],
)
def test_titles(source, title):
    assert extract_page(f"<html><body>{source}<p>text</p>", "http://example.org/").title == title


def test_a_page_without_an_article_still_gives_its_words():
    page = extract_page("<html><body><div>Short note.</div></body></html>", "http://example.org/")
    assert "Short note." in page.text
    assert extract_page("no markup at all", "http://example.org/").text == "no markup at all"
    assert extract_page("", "http://example.org/").text == ""


def test_of_a_huge_page_the_beginning_is_looked_at():
    page = extract_page(
        "<html><body>" + "".join(f"<p>Paragraph {n} of the page.</p>" for n in range(20_000)), "http://x/"
    )
    assert not page.whole
    assert "Paragraph 0 of the page." in page.text


def test_scripts_do_not_count_towards_what_is_looked_at():
    page = extract_page(f"<html><script>{'x' * 2_000_000}</script><p>After it all.</p>", "http://example.org/")
    assert page.whole
    assert "After it all." in page.text


def test_html_is_recognised_where_the_server_says_nothing():
    assert is_html("", b"  <!DOCTYPE html><p>")
    assert is_html("", b"<html>")
    assert not is_html("", b"plain")
    assert not is_html("text/plain", b"<html>")


def test_half_a_character_at_the_cut_does_not_spoil_the_rest():
    assert decoded("aé".encode()[:-1], "", page=False) == "a"


def test_json_that_is_none_stays():
    assert pretty_json("{'a': 1}") == "{'a': 1}"
