"""Words in the language in force: values, plurals, numbers, and which language that is."""

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from app import language as words
from app.language import day, decimal, mark, tr, tr_n
from app.program import of_system
from engine.asr import pick as recogniser_pick
from engine.errors import ModelError
from engine.tts import pick as voice_pick

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("code", "date", "none", "two"),
    [
        ("de", "05.11.2026", "0 Antworten", "2 Antworten"),
        ("es", "05/11/2026", "0 respuestas", "2 respuestas"),
        ("fr", "05/11/2026", "0 échange", "2 échanges"),  # English: turns
        ("it", "05/11/2026", "0 risposte", "2 risposte"),
        ("pt", "05/11/2026", "0 resposta", "2 respostas"),
    ],
)
def test_numbers_dates_and_plurals_are_written_as_there(code, date, none, two):
    words.choose(code)
    assert (decimal(4.5, 1), day("2026-11-05")) == ("4,5", date)
    assert day("<b>never</b>") == "<b>never</b>"
    assert [tr_n("{count} turn", "{count} turns", count) for count in (0, 2)] == [none, two]


def test_what_is_not_translated_stays_english_and_what_is_marked_waits():
    words.choose("fr")
    assert tr("Hold {key}", key="F9") == "Maintenir F9"
    assert tr("Nobody translated this.") == "Nobody translated this."
    assert tr("") == ""
    assert mark("Settings") == "Settings"
    assert tr(mark("Settings")) == "Réglages"
    words.choose("xx")  # which is not there
    assert tr("Settings") == "Settings"


@pytest.mark.parametrize(
    ("code", "command", "shown"),
    [
        ("en", "rubato models get kokoro", "Models (Ctrl+M) ▸ kokoro ▸ Fetch"),
        ("de", "rubato models get kokoro", "Modelle (Strg+M) ▸ kokoro ▸ Holen"),
        ("fr", "rubato models remove kokoro", "Modèles (Ctrl+M) ▸ kokoro ▸ Retirer"),
        ("en", "rubato models list", "Models (Ctrl+M)"),
        ("en", "rubato doctor", "About Rubato (Shift+F1) ▸ Copy diagnostics"),
        ("en", "rubato bench", "in a terminal: rubato bench"),
        ("de", "rubato models get", "im Terminal: rubato models get"),
        ("en", "pip install 'rubato[serve]'", "pip install 'rubato[serve]'"),
    ],
)
def test_a_command_of_the_engine_is_a_page_and_a_button_in_the_window(code, command, shown):
    words.choose(code)
    error = ModelError("{name} is missing.", hint="Fetch it with: {command}", name="It",
                           command=command)  # fmt: skip
    assert error.hint == f"Fetch it with: {command}"
    assert words.translated(error.hint) == f"{tr('Fetch it with: {command}', command=shown)}"


@pytest.mark.parametrize(
    "text",
    [recogniser_pick.NOT_FETCHED, recogniser_pick.UNMEASURED, voice_pick.NOT_FETCHED,
     voice_pick.UNMEASURED, voice_pick.NEW_UNMEASURED],
)  # fmt: skip
def test_why_a_part_was_chosen_names_no_command_without_its_place(text):
    assert "(rubato " in text
    assert "(rubato " not in words.translated(text)


def test_a_text_that_the_window_shows_names_a_command_only_with_its_place():
    """Commands are values of texts: see app.language."""
    with (ROOT / "resources" / "languages" / "de.po").open("rb") as file:
        texts = [str(each.id) for each in read_po(file)]
    named = [text for text in texts if re.search(r"\brubato (models|bench|doctor|voices)\b", text)]
    assert [text for text in named if "in a terminal" not in text] == []


@pytest.mark.parametrize(
    ("preferred", "code"),
    [
        (["de-AT", "en"], "de"),
        (["nl-NL", "fr_FR"], "fr"),
        (["en-GB", "de"], "en"),
        (["pt-PT"], "pt"),
        (["ja"], "en"),
        ([], "en"),
    ],
)
def test_the_first_language_of_the_person_that_we_have(preferred, code):
    assert of_system(preferred) == code
