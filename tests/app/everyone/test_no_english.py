"""No English sentence in a window of another language: every page, with what the engine says of the
models that there really are, and every text of the catalogues.
"""

import re
from pathlib import Path

import pytest

from app import language
from app.language import LANGUAGES
from engine.api import Event, ModelsListed, Settings
from engine.models.listing import Machine, entries
from engine.models.recommended import recommendation
from tests.app.everyone import pages
from tests.app.everyone.pages import PAGES, seen, words_of
from tests.app.everyone.test_languages import SAME, shown, texts_in
from tests.app.language.test_catalogues import as_texts, messages

FOREIGN = [code for code in LANGUAGES if code != "en"]
# Words that nearly every English sentence has some of, and that no other language has, but these.
SHARED = {"es": {"has"}, "it": {"file"}, "pt": {"for"}}
ENGLISH = re.compile(
    r"\b(?:the|of|and|for|not|with|is|are|this|that|these|it|its|you|your|cannot|can't|has|have|which|when"
    r"|while|what|been|being|there|they|were|would|should|could|does|did|from|by|until|because|than"
    r"|then|here|only|where|how|who|again|before|after|more|most|every|each|nothing|something"
    r"|another|other|others|needs|takes|voice|file|folder|words|computer's|machine's)\b",
    re.IGNORECASE,
)
# What is said in the tests' conversations, and what stands in files and on screens of others.
DATA = (pages.TALK, pages.FAULTS, pages.KEPT, pages.VOICES, pages.CLIP, pages.COMPARED)
OURS = ("Timer set for ten minutes.", "Nothing of this is kept.", "What can you do?")
# Commands, licences and titles of works, as they are in every language; and what is said to Rubato.
NAMES = re.compile(
    r"rubato \w+(?: [\w-]+)*|make \w+|[A-Z]{2,}(?:[- ][\d.]+)?|https?://\S+|/[\w./-]+|“[^”]*”|„[^“]*“|«[^»]*»|{\w*}"
)


def english_in(text: str, code: str) -> list[str]:
    """The English words of a text that is ours, in a window of this language."""
    for outside in OUTSIDE:
        text = text.replace(outside, " ")
    found = ENGLISH.findall(SAME.sub(" ", NAMES.sub(" ", text)))
    return [word for word in found if word.lower() not in SHARED.get(code, ())]


OUTSIDE = sorted({text for text in texts_in((*DATA, *OURS)) if " " in text}, key=len)[::-1]


@pytest.fixture(params=FOREIGN)
def code(request: pytest.FixtureRequest) -> str:
    language.choose(request.param)
    return str(request.param)


@pytest.fixture
def real_models(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    """The events that the pages show, as a window gets them; the models are the engine's own."""
    monkeypatch.setenv("RUBATO_DATA", str(data))
    machine, listed = Machine(16_000, 4), entries(Settings())
    library = ModelsListed(listed, recommendation(listed, machine), str(machine))
    monkeypatch.setattr(pages, "LIBRARY", (library, *pages.LIBRARY[1:]))
    plain = pages.tell

    def tell(window: object, *events: Event) -> None:
        plain(window, *map(language.translate_event, events))  # type: ignore[arg-type]

    monkeypatch.setattr(pages, "tell", tell)


@pytest.mark.usefixtures("real_models")
@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_an_english_sentence(name, code, window):
    root = PAGES[name](window)
    found = {
        f"{words_of(widget)}: {text}"
        for widget in (root, *seen(root))
        for text in shown(widget)
        if text and english_in(text, code)
    }
    assert found == set()


@pytest.mark.parametrize("code", FOREIGN)
def test_no_translation_is_english(code):
    said = [text for each in messages(code) for text in as_texts(each.string)]
    assert [text for text in said if english_in(text, code)] == []


def test_an_english_sentence_would_be_noticed():
    for code in FOREIGN:
        assert english_in("Every file is as it was fetched.", code)
    assert not english_in("Jede Datei ist so, wie sie geladen wurde.", "de")
    assert not english_in("Il file è sul disco.", "it")
