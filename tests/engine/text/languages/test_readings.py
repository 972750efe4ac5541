"""What is said for what is written in the other languages (a table each beside this file), and the
laws of the stream in them.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.languages import ENGLISH, SPOKEN
from engine.resources import resource
from engine.text.paced import PacedText
from engine.text.pacing import CODE, FIGURE, NAME
from engine.text.word import Word
from tests.engine.text import test_speakable
from tests.engine.text.cases import CASES
from tests.engine.text.test_speakable import MARKDOWNISH, pieces

LANGUAGES = [code for code in SPOKEN if code != ENGLISH]
OTHERS = pytest.mark.parametrize("language", LANGUAGES)


_ENGLISH_WORDS = """
one two three four five seven eight nine ten twenty thirty hundred thousand and minus at dot slash
dash percent pounds feet inches degrees first second third fifth equals divided to by over
squared cubed of the is january february march april may june july august september october november
december versus number street ending an"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())


def cases(language: str) -> list[list[str]]:
    """Text, words, and why they are not said so yet."""
    rows = []
    for order in ("", "_second", "_third", "_fourth"):
        table = Path(__file__).with_name(f"{language}{order}.tsv").read_text("utf-8")
        lines = table.replace("␣", "\u00a0").replace("⍽", "\u202f").splitlines()
        rows += [line.split("\t") for line in lines if not line.startswith("#")]
    table = Path(__file__).with_name("more.tsv").read_text("utf-8")
    more = (line.split("\t") for line in table.splitlines())
    return rows + [row for code, *row in more if code == language]


TEXTS = {language: [text for text, *_ in cases(language)] for language in LANGUAGES}
ANY_TEXT = st.sampled_from(LANGUAGES).flatmap(
    lambda language: st.tuples(
        st.just(language),
        st.lists(
            st.sampled_from([*TEXTS[language], " ", "\n", "\n\n"]) | MARKDOWNISH, max_size=4
        ).map(" ".join),
    )
)


def read(language: str, *deltas: str) -> list[Word]:
    return test_speakable.read(*deltas, language=language)


def said(language: str, text: str) -> str:
    return " ".join(word.text for word in read(language, text))


@OTHERS
def test_text_is_said_as_a_person_would_say_it_also_character_by_character(language):
    assert len(set(TEXTS[language])) == len(TEXTS[language]) >= 100
    wrong = []
    for text, spoken, *still_open in cases(language):
        assert read(language, *text) == read(language, text), text
        found = said(language, text)
        if (found == spoken) is bool(still_open):
            wrong.append(f"{text!r} is said {found!r}, wanted {spoken!r} {still_open}")
    assert not wrong, "\n".join(["these rows are not as they say:", *wrong])


@settings(max_examples=150, deadline=None)
@given(case=ANY_TEXT, cuts=st.lists(st.integers(0, 400), max_size=8))
def test_cut_anywhere_it_says_the_same(case, cuts):
    language, text = case
    assert read(language, *pieces(text, cuts)) == read(language, text)


@OTHERS
def test_at_most_one_word_is_held_back(language):
    for text in TEXTS[language][::3]:
        test_speakable.hold_back_is_at_most_one_token(text)


@OTHERS
def test_no_english_word_comes_from_a_rule(language):
    for text in test_speakable.TEXTS[::5]:
        written = text.casefold()
        words = {word.text.strip(".,;:?!").casefold() for word in read(language, text)}
        assert not {word for word in words & _ENGLISH if word not in written}, text


@pytest.mark.parametrize(("language", "text", "spoken"), CASES["markdown_elsewhere"])
def test_markdown_formulas_and_tags_are_common(language, text, spoken):
    assert said(language, text) == spoken


def test_english_words_have_no_pace_of_their_own_in_other_languages():
    def paces(text: str) -> dict[str, float]:
        paced = PacedText(pacing=True, usual="es")
        words = [*paced.push(text).words, *paced.end().words]
        return {word.text: word.pace for word in words}

    assert paces("El eleven come, by the way, bien.")["bien."] == 1.0
    found = paces("Y luego vimos Sevilla a las 14:30.")
    assert (found["Sevilla"], found["catorce"]) == (NAME, FIGURE)
    assert found["Y"] == 1.0
    assert paces("Llame al 612 345 678.")["seis"] == CODE


@OTHERS
def test_a_language_has_what_spanish_has(language):
    """A missing word would be an error in the middle of a reply."""
    tables = [
        tomllib.loads(resource("text", "languages", f"{code}.toml").read_text("utf-8"))
        for code in ("es", language)
    ]
    spanish, other = ({k: type(v) for k, v in table.items()} for table in tables)
    assert spanish == other
    for name in ("say", "clock", "half", "halves", "fractions", "greek", "latex"):
        assert set(tables[1][name]) == set(tables[0][name])
    for name, forms in (("currencies", 4), ("units", 2), ("fractions", 2)):
        assert all(text.count("|") == forms - 1 for text in tables[1][name].values())
    assert len(tables[1]["months"].split()) == 12


def test_words_without_figures_load_no_library():
    code = (
        "import sys; from engine.text.speakable import Speakable; s = Speakable('es'); "
        "s.push('Hola, mundo. '); assert 'num2words' not in sys.modules; "
        "s.push('Son 5 euros. '); assert 'num2words' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
