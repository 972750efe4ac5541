"""Every sentence of the engine's is a template that can be translated, and gets its values."""

import ast
from configparser import ConfigParser
from functools import cache
from pathlib import Path

import pytest

from app import language as words
from app.language import translate_event
from engine.api import Failed, Notice, Part, Ready, VoiceEntry, VoicesListed
from engine.asr import pick as ears
from engine.errors import LanguageModelError
from engine.translatable import Translatable, joined
from engine.tts import pick as speech
from engine.tts.kokoro import voices as kokoro
from installer.extraction import MAKERS, MARKS, literals, makers, parts
from tests.app.language.test_catalogues import places

ROOT = Path(__file__).parents[3]
# What is said to the person beside faults: arguments by position and by name.
SHOWN = {
    "Notice": slice(0, 1),
    "Failed": slice(1, 3),
    "Loading": slice(1, 2),
    "ModelEntry": slice(1, 2),
    "ModelSettled": slice(1, 2),
    "ModelsListed": slice(2, 3),
    "Recommendation": slice(2, 4),
    "Verdict": slice(1, 2),
    "progress": slice(0, 1),
}
FIELDS = {"why", "why_not", "obstacle", "description", "title", "attribution", "notice", "advice"}
FIELDS |= {"fault", "ended_by"}
NO_VALUES = {"hint", "busy", "wait_s"}  # keywords of faults that are not values
SAYS = MAKERS | makers() | {"joined", "from_json"}  # what makes a text that can be translated
Named = dict[str, list[ast.expr]]


@cache
def modules() -> dict[str, ast.Module]:
    """Those whose words a window can show, by their paths."""
    files = {each.relative_to(ROOT).as_posix(): each for each in (ROOT / "engine").rglob("*.py")}
    return {
        path: ast.parse(file.read_text(encoding="utf-8"))
        for path, file in files.items()
        if file.name not in ("translatable.py", "errors.py") and not path.startswith(left_out())
    }


@cache
def left_out() -> tuple[str, ...]:
    config = ConfigParser(allow_no_value=True)
    config.read(ROOT / "installer" / "babel.cfg")
    patterns = [each.partition(":")[2].strip() for each in config.sections() if "ignore" in each]
    return tuple(each.removesuffix("**.py") for each in patterns)


def name_of(call: ast.Call) -> str:
    return ast.unparse(call.func).rsplit(".", 1)[-1]


@cache
def calls() -> tuple[tuple[str, ast.Call], ...]:
    found = ((path, node) for path, module in modules().items() for node in ast.walk(module))
    return tuple((path, node) for path, node in found if isinstance(node, ast.Call))


def said(call: ast.Call) -> list[ast.expr]:
    """The arguments that a person reads."""
    name = name_of(call)
    by_name = [each.value for each in call.keywords if each.arg in FIELDS]
    if parts(call) and name not in ("Translatable", "mark"):
        return [part for part in parts(call) if not list(literals(part))]
    return [*call.args[SHOWN[name]], *by_name] if name in SHOWN else by_name


@cache
def named(path: str) -> Named:
    """What each name of a module is assigned, or returns."""
    found: Named = {}
    for node in ast.walk(modules()[path]):
        match node:
            case ast.Assign(targets=[target], value=value):
                for each in ast.walk(target):
                    if isinstance(each, ast.Name):
                        found.setdefault(each.id, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append(value)
            case ast.FunctionDef(name=name):
                returns = (each for each in ast.walk(node) if isinstance(each, ast.Return))
                found.setdefault(name, []).extend(each.value for each in returns if each.value)
    return found


def unmarked(node: ast.AST, path: str, seen: frozenset[str] = frozenset()) -> list[str]:
    """The sentences that stand in an expression, or in what its names are, and that no call makes
    translatable. A constant may be another module's.
    """
    match node:
        case ast.Call() if name_of(node) in SAYS:
            return []
        case ast.Constant(value=str() as text):
            return [text] if " " in text.strip() else []
        case ast.JoinedStr():
            return [ast.unparse(node)]
        case ast.Attribute():
            return []
        case ast.Name(id=name) if name in seen:
            return []
        case ast.Name(id=name):
            places = [path] if name in named(path) or not name.isupper() else list(modules())
            given = [(each, place) for place in places for each in named(place).get(name, ())]
            return [text for each in given for text in unmarked(*each, seen | {name})]
        case _:
            children = ast.iter_child_nodes(node)
            return [text for each in children for text in unmarked(each, path, seen)]


def test_no_sentence_is_said_that_cannot_be_translated():
    found = [
        (f"{path}:{call.lineno}", text)
        for path, call in calls()
        for part in said(call)
        for text in unmarked(part, path)
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "Notice('It is late.')",
        "ModelError(f'It is {time}.')",
        "Notice.of(f'It is {time}.')",
        "Ready(why='It is late.')",
        "Notice(LATE)\nLATE = 'It is late.'",
        "ModelError('Late.', hint=late())\ndef late():\n    return 'It is late.'",
        "Failed('x', *(), 'It is late.')",
    ],
)
def test_one_that_cannot_be_translated_would_be_noticed(code, monkeypatch):
    module = ast.parse(code)
    monkeypatch.setitem(modules(), "x.py", module)
    named.cache_clear()
    call = next(node for node in ast.walk(module) if isinstance(node, ast.Call))
    assert [text for part in said(call) for text in unmarked(part, "x.py")] != []
    named.cache_clear()


def mismatch(call: ast.Call, templates: list[str]) -> bool:
    """Whether a template lacks a value or has one too many; without values braces are text."""
    given = {each.arg for each in call.keywords} - NO_VALUES
    wanted = set().union(*map(places, templates)) if given else set()
    return given != wanted or not (given or all("{" not in text for text in templates))


def templates(call: ast.Call, path: str) -> list[str]:
    """The templates of a call, also those that were marked before."""
    found = parts(call)
    before = [
        part.args[0]
        for each in found
        if isinstance(each, ast.Subscript)
        for value in named(path).get(ast.unparse(each.value), ())
        for part in ast.walk(value)
        if isinstance(part, ast.Call) and name_of(part) == "mark"
    ]
    return [str(text.value) for part in (*found, *before) for text in literals(part)]


def test_every_template_gets_its_values_and_no_others():
    wrong = [
        f"{path}:{call.lineno}"
        for path, call in calls()
        if parts(call) and name_of(call) not in MARKS
        if mismatch(call, templates(call, path))
    ]
    passed_on = ["engine/export.py", "engine/llm/servers/faults.py", "engine/messages/events.py"]
    assert [each.split(":")[0] for each in wrong] == passed_on  # by their callers
    assert len([call for _, call in calls() if name_of(call) in makers()]) > 250


@pytest.mark.parametrize(
    "code", ["E('{a}')", "E('{a}', b=1)", "E('{a}', a=1, b=1)", "E('a', hint='{b}', a=1)"]
)
def test_a_wrong_value_would_be_noticed(code):
    call = ast.parse(code.replace("E", "EngineError"), mode="eval").body
    assert isinstance(call, ast.Call)
    assert mismatch(call, templates(call, next(iter(modules()))))


def test_every_kind_of_fault_is_known_to_the_collector():
    bases = {
        node.name: {ast.unparse(base) for base in node.bases}
        for path, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    }
    derived = {name for name, its in bases.items() if its & makers()}
    assert derived - makers() == set()


def test_a_name_stays_as_it_is_and_so_does_what_somebody_else_wrote():
    words.choose("de")
    fetched = Notice(Translatable("{name} was fetched.", name="Clara {x}"))
    assert translate_event(fetched) == Notice("Clara {x} wurde geholt.")
    assert translate_event(Notice("Settings")) == Notice("Settings")  # a key of the window's
    error = LanguageModelError("The language model failed: {error}", error="Settings {0} {x}")
    assert (
        translate_event(Failed.of(error)).message
        == "Das Sprachmodell ist gescheitert: Settings {0} {x}"
    )


def test_decimals_in_a_text_of_the_engine_are_as_in_the_language():
    words.choose("de")
    assert "0,5 s nach" in translate_event(ears.judge(500.0, 300.0).reason)
    size = Translatable("{size} GB", size="1.1")
    thinks = Translatable("{name} thinks ({size})", name="Qwen 3 1.7B", size=size)
    assert translate_event(thinks) == "Qwen 3 1.7B denkt (1,1 GB)"
    words.choose("en")
    assert translate_event(thinks) == "Qwen 3 1.7B thinks (1.1 GB)"


def test_a_description_is_translated_part_by_part_and_an_older_one_stays_english():
    words.choose("de")
    about = kokoro.ABOUT["Heart"]
    entries = tuple(VoiceEntry("x", description=each) for each in (about, str.__str__(about)[:]))
    listed = translate_event(VoicesListed(entries))
    assert isinstance(listed, VoicesListed)
    german, english = (each.description for each in listed.voices)
    assert english == "American woman, warm, the most natural"
    assert german.startswith("Amerikanerin, warm, ")


@pytest.mark.parametrize(
    "why",
    [
        *(ears.NOT_FETCHED, ears.UNMEASURED, ears.ENGLISH_ONLY, ears.judge(5000.0, 300.0).reason),
        *(
            speech.ON_CARD,
            speech.NEW_ON_CARD,
            speech.NEW_UNMEASURED,
            speech.NOT_FETCHED,
            speech.UNMEASURED,
        ),
        speech.judge(0.9).reason,
        joined((speech.judge(0.2).reason, "Whatever.")),
    ],
)
def test_why_something_was_chosen_is_translated(why):
    words.choose("de")
    ready = translate_event(Ready(Part.SYNTHESISER, "x", why=why))
    assert isinstance(ready, Ready)
    assert ready.why not in ("", why)
