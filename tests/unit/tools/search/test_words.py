"""Text as search terms: however a name is written, its words are the same."""

import pytest

from openprogram.tools.search.words import FUNCTION_WORDS, Words


@pytest.mark.parametrize(
    "name",
    ["createPullRequest", "create_pull_request", "create-pull-request", "CreatePullRequest", "create.pull/request"],
)
def test_a_name_is_its_words_in_any_style(name: str) -> None:
    assert Words().terms(name) == Words().terms("create pull request")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("HTTPServer2", ["http", "server", "2"]),
        ("base64", ["base", "64"]),
        ("Übersetzen", ["ubersetzen"]),
        ("Señor naïve Ångström", ["senor", "naiv", "angstrom"]),
        ("Ελλάδα Ёлка", ["ελλαδα", "елка"]),
        ("がく ガク", ["がく", "ガク"]),
        ("한국", ["한국"]),
        ("ＷＩＤＥ", ["wide"]),
        ("天气预报", ["天气", "气预", "预报"]),
        ("查weather表", ["查", "weather", "表"]),
        ("  ,;!  ", []),
    ],
)
def test_case_digits_signs_and_scripts_are_split(text: str, terms: list[str]) -> None:
    assert Words().terms(text) == terms


def test_forms_of_a_word_are_one_term() -> None:
    assert len(set(Words().terms("file files filing"))) == 1


def test_neighbours_meet_the_word_that_is_written_as_one() -> None:
    assert Words().compounds("file_system") == Words().terms("filesystem")


def test_function_words_are_left_out_of_a_query_unless_there_is_nothing_else() -> None:
    assert Words().query("please find the weather for me") == Words().terms("find weather")
    assert Words().query("who is it") == Words().terms("who is it")


def test_a_query_has_each_term_once() -> None:
    assert Words().query("file files FILE") == Words().terms("file")


def test_function_words_are_single_lower_case_words() -> None:
    assert all(word.isalpha() and word.islower() for word in FUNCTION_WORDS)


@pytest.mark.parametrize("word", ["café", "CAFÉ", "cafe\u0301", "cafe"])
def test_accents_do_not_count_however_they_are_written(word: str) -> None:
    assert Words().terms(word) == ["cafe"]
