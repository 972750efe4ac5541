"""Every marked string is in every language, with the same places, keys and file types."""

import ast
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from app.language import LANGUAGES
from app.program import qt_texts
from installer.extraction import extract_marked

ROOT = Path(__file__).parents[3]
KEYWORDS = {"tr": None, "tr_n": (1, 2), "mark": None}
FOREIGN = [code for code in LANGUAGES if code != "en"]
Texts = tuple[str, ...]


def as_texts(found: str | tuple[str, ...] | list[str]) -> Texts:
    return (found,) if isinstance(found, str) else tuple(found)


@cache
def marked() -> set[Texts]:
    with (ROOT / "installer" / "babel.cfg").open(encoding="utf-8") as file:
        methods, options = parse_mapping_cfg(file)
    found = extract_from_dir(ROOT, methods, options, KEYWORDS)
    return {as_texts(message) for _, _, message, _, _ in found}


@cache
def messages(code: str) -> tuple[Message, ...]:
    with (ROOT / "resources" / "languages" / f"{code}.po").open("rb") as file:
        return tuple(each for each in read_po(file, locale=code) if each.id)


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def outline(text: str) -> tuple[object, ...]:
    """What a translation has to keep."""
    blanks = (text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :])
    types = sorted(re.findall(r"\*\.\w+", text))
    return places(text), text.count("&"), text.count("\n"), text.count("\t"), blanks, types


@pytest.mark.parametrize("code", FOREIGN)
def test_what_is_marked_is_translated_and_nothing_else(code):
    known = {as_texts(each.id): as_texts(each.string) for each in messages(code)}
    assert set(known) == marked(), "run `make words`, then translate what is new"
    assert [text for text, said in known.items() if not all(said)] == []


@pytest.mark.parametrize("code", FOREIGN)
def test_a_translation_keeps_places_accelerators_and_file_types(code):
    different = [
        (text, said)
        for each in messages(code)
        for text, said in zip(as_texts(each.id), as_texts(each.string), strict=True)
        if outline(text) != outline(said)
    ]
    assert different == []


@pytest.mark.parametrize("code", FOREIGN)
def test_keys_have_the_names_that_qt_writes_into_menus(code):
    qt = qt_texts(code)
    assert not qt.isEmpty()
    different = [
        said
        for each in messages(code)
        for text, said in zip(as_texts(each.id), as_texts(each.string), strict=True)
        for key in re.findall(r"\b(?:Ctrl|Shift|Esc|Del)\b", text)
        if (qt.translate("QShortcut", key) or key) not in said
    ]
    assert different == []


def test_french_signs_begin_no_line():
    """The space before them does not break."""
    said = [text for each in messages("fr") for text in as_texts(each.string)]
    assert [text for text in said if re.search(r"« | [:;?!»]", text)] == []


@pytest.mark.parametrize(
    "said", ["Halten", "{keys} halten", "&{key} halten", "{key} halten ", "{key}\nhalten"]
)
def test_a_translation_that_loses_something_would_be_noticed(said):
    assert outline("Hold {key}") != outline(said)


# Words of the formal address. Where a German sentence begins, "Sie" may be "they" too.
FORMAL = {
    "de": r"(?<![.:!?…] )(?<![„(])(?<!^)\b(?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)\b",
    "fr": r"(?i)\b(?:vous|votre|vos|(?!assez|chez)[^\W\d_]+ez)\b",
}


def formal(said: str, code: str) -> list[str]:
    return re.findall(FORMAL[code], said)


@pytest.mark.parametrize("code", FORMAL)
def test_german_says_du_and_french_says_tu(code):
    texts = [said for each in messages(code) for said in as_texts(each.string)]
    assert [said for said in texts if formal(said, code)] == []


@pytest.mark.parametrize(
    ("code", "said", "found"),
    [
        ("de", "Prüfen Sie das Netz.", ["Sie"]),
        ("de", "Die Stimme passt nicht; Ihre Aufnahme fehlt.", ["Ihre"]),
        ("de", "Sie klingeln. Sie bleiben: Sie sind gesichert, und ihre Namen auch.", []),
        ("fr", "Choisissez-en un autre.", ["Choisissez"]),
        ("fr", "Kokoro est assez rapide chez toi.", []),
    ],
)
def test_a_formal_address_would_be_noticed(code, said, found):
    assert formal(said, code) == found


@pytest.mark.parametrize("code", FOREIGN)
def test_what_is_shown_was_made_of_what_is_written(code):
    with (ROOT / "resources" / "languages" / f"{code}.mo").open("rb") as file:
        shown = {as_texts(m.id): as_texts(m.string) for m in read_mo(file) if m.id}
    written = {as_texts(each.id): as_texts(each.string) for each in messages(code)}
    assert shown == written, "run `make words`"


def marks() -> Iterator[tuple[str, str, ast.Call]]:
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in KEYWORDS:
                    yield f"{path.name}:{node.lineno}", name, node


def test_every_literal_mark_is_collected():
    """Also inside an f-string, where Babel does not look."""
    words = {text for message in marked() for text in message}
    missed = [
        where
        for where, _, call in marks()
        for text in call.args
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
        if text.value not in words
    ]
    assert missed == []


def test_a_mark_inside_an_f_string_is_found():
    source = b"""x = f"{tr_n('{count} day', '{count} days', days)} {tr('left')}" """
    found = extract_marked(io.BytesIO(source), KEYWORDS, (), {})
    assert sorted(found) == [
        (1, "tr", ["left"], []),
        (1, "tr_n", ["{count} day", "{count} days", None], []),
    ]


def test_every_place_gets_its_value_and_nothing_is_marked_that_was_put_together():
    """An f-string has no fixed text that could be translated."""
    wrong = []
    for where, name, call in marks():
        texts = [each.value for each in call.args if isinstance(each, ast.Constant)]
        given = {each.arg for each in call.keywords} | ({"count"} if name == "tr_n" else set())
        if any(isinstance(each, ast.JoinedStr) for each in call.args):
            wrong.append(where)
        if name == "tr" and texts and given != places(texts[0]):
            wrong.append(where)
        if name == "tr_n" and not all(places(t) <= given for t in texts if isinstance(t, str)):
            wrong.append(where)
    assert wrong == []
