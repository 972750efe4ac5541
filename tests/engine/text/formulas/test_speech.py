"""The words of formulas, whatever stands in them; those of real ones are in formulas.toml."""

import re

import pytest
from hypothesis import given, settings

from engine.text.formulas import commands, speech
from tests.engine.text.cases import CASES
from tests.engine.text.formulas.test_boundaries import TEX


@settings(max_examples=250, deadline=None)
@given(text=TEX)
def test_every_text_has_words_of_letters_with_at_most_one_mark(text):
    for word in speech.words(f"${text}$"):
        assert re.fullmatch(r"[^\W\d_](?:[^\W\d_]|['-])*[,;:]?", word), word


@pytest.mark.parametrize("name", sorted(commands.COMMANDS))
def test_every_known_command_may_stand_alone_at_the_end_or_before_anything(name):
    for text in (f"\\{name}", f"\\{name} x", f"x \\{name}{{y}}{{z}}", f"(\\{name}_1^2)"):
        assert all(re.search(r"[^\W\d_]", word) for word in speech.words(f"${text}$"))


@pytest.mark.parametrize(
    "text", ["{" * 500, "\\frac" * 200, "(" * 300 + "x", "^" * 300, "\\sqrt[" * 90]
)
def test_deep_nesting_is_no_error(text):
    speech.words(f"${text}$")


@pytest.mark.parametrize(("one", "other"), CASES["different_formulas"])
def test_formulas_that_mean_different_things_sound_different(one, other):
    assert speech.words(f"${one}$") != speech.words(f"${other}$")
