"""Words in the language in force: values, plurals, numbers, and which language that is."""

import pytest

from app import language as words
from app.language import decimal, mark, tr, tr_n
from app.program import of_system


def test_a_chosen_language_is_spoken_with_its_own_plurals_and_comma():
    words.choose("de")
    assert tr("Hold {key}", key="F9") == "F9 halten"
    assert tr_n("{count} turn", "{count} turns", 3) == "3 Antworten"
    assert decimal(4.5, 1) == "4,5"
    words.choose("fr")
    assert tr_n("{count} turn", "{count} turns", 0) == "0 échange"  # English: turns
    assert tr_n("{count} turn", "{count} turns", 2) == "2 échanges"


def test_what_is_not_translated_stays_english_and_what_is_marked_waits():
    words.choose("fr")
    assert tr("Nobody translated this.") == "Nobody translated this."
    assert tr("") == ""
    assert mark("Settings") == "Settings"
    assert tr(mark("Settings")) == "Réglages"
    words.choose("xx")  # which is not there
    assert tr("Settings") == "Settings"


@pytest.mark.parametrize(
    ("preferred", "code"),
    [
        (["de-AT", "en"], "de"),
        (["nl-NL", "fr_FR"], "fr"),
        (["en-GB", "de"], "en"),
        (["ja"], "en"),
        ([], "en"),
    ],
)
def test_the_first_language_of_the_person_that_we_have(preferred, code):
    assert of_system(preferred) == code
