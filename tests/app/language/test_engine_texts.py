"""What the engine can say of itself is known in every language of the window."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from app.language import words
from app.language.engine_texts import LONGEST, SENTENCES, _translated, said, told
from engine import settings
from engine.api import Failed, Notice, Part, Ready, VoiceEntry, VoicesListed
from engine.asr import pick as ears
from engine.audio.devices import portaudio
from engine.bench.machine import WHEN_IDLE
from engine.history import faults
from engine.llm.servers.faults import NO_REASON
from engine.runtime.workers.ears import listener
from engine.text import speakable
from engine.tts import pick as speech
from engine.tts.espeak import voices as espeak
from engine.tts.kokoro import voices as kokoro
from engine.tts.roster import Roster
from engine.tts.shelf import _why_not
from engine.tts.voxtream.synthesiser import NOT_CAPTURED

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "engine"
FOREIGN = [code for code in words.LANGUAGES if code != "en"]
# Parts of the engine whose faults no window shows, and why.
LEFT_OUT = (
    "training",  # a command of its own
    "runtime/host/dialogue.py",  # `rubato talk` without a window
    "runtime/host/offline_synthesis.py",  # `rubato say` and `rubato bench`
    "runtime/host/rate_plan.py",  # an option of `rubato say`
    "assets/catalogue.py",  # our own list of models, which tests read
    "tts/utterance.py",  # a wrong call, which is a programmer's
    "tts/espeak/phrasing.py",  # the same
    "tts/espeak/session.py",  # the same
)
PARTS = {  # what can stand at these places
    "noun": ("microphone", "loudspeaker"),
    "part.value": ("recogniser", "language model", "synthesiser"),
    "_whole(entry)": ("recogniser", "language model", "voice"),
}
FILES = ("codec file", "vocoder", "tokeniser", "speaker encoder", "voice file")
# What stands where a sentence is told but is put together elsewhere, and what it can be.
ELSEWHERE = {
    "NO_CANCELLER": (listener.NO_CANCELLER,),
    "TOO_SOON": (listener.TOO_SOON,),
    "LEFT_OUT": (speakable.LEFT_OUT,),
    "_no_device_hint()": (portaudio._no_device_hint(),),
    "_install_hint()": (portaudio._install_hint(),),
    "one if count == 1 else several": (
        "1 conversation was deleted.",
        "7 conversations were deleted.",
    ),
    "'A private conversation.' if private else 'A new conversation.'": (
        "A private conversation.",
        "A new conversation.",
    ),
    "ended_by": ("The disk is too slow for the recording.",),
    "note": (
        NOT_CAPTURED.format("no memory"),
        "settings.toml was changed by hand meanwhile (speech.rate): that is kept, and in force "
        "from the next start.",
        "What settings.toml said before is kept in settings.old.toml.",
    ),
    "hint": (
        *(hint for _, hint in faults._WHY.values()),
        "Look whether the disk is full or read-only.",
        "Say it again, or type it.",
        "Ask again, or choose another one in the settings.",
        "Give it some words.",
        speakable.LEFT_OUT,
        "They are set aside as history.old; what is said from now on is in a new file.",
    ),
    "text": (
        "The words of what you said did not come.",
        "The voice has stood still for too long.",
        "The language model has stood still for too long.",
    ),
    # in parts of the engine that are told what it is about
    "f'The {what} {file} is not there.'": tuple(f"The {each} /x is not there." for each in FILES),
    "f'The {what} {file} cannot be used: {error}'": tuple(
        f"The {each} /x cannot be used: Xy" for each in FILES
    ),
    "f\"The {what} {file}: '{key}' holds NaN or infinity.\"": tuple(
        f"The {each} /x: 'Xy' holds NaN or infinity." for each in FILES
    ),
    "f'The language-model server at {self._address} failed{how}: {words}.'": (
        "The language-model server at http://x/v1 failed: Xy.",
        "The language-model server at http://x/v1 failed with error 500: Xy.",
    ),
    "f'{entry.title} {entry.attribution}.'": ("Xy runs in Ollama on this computer.",),
    "f'Set them again. {_set_aside(path)}'": (
        "Set them again. The file is kept as timers.damaged-1.json.",
        "Set them again. The file could not be set aside: Permission denied.",
    ),
    "fault": (
        "“tea” is too short (1 of at least 3 syllables): other words sound like it.",
        "“thank you” is said too often in other talk: you would wake me all the time.",
    ),
    "entry.obstacle": (
        "It is no longer there.",
        "A part of Kokoro, which brings it along.",
        "It needs llama.cpp: run `make llm` in the program's folder, then start it again.",
        "About 12 core hours: python -m engine.training",
    ),
    "_advice(folder)": (
        "Make the pack again or remove /x: then the shipped one speaks.",
        "Install the program again.",
    ),
    "f'Give {allowed}.'": (
        "Give true or false.",
        *(f"Give {rule}." for rule in (*settings.RULES.values(), settings._ANY_TEXT)),
    ),
    "reason": (),  # each is collected where it is given
}
# A fault that is passed on was told of where it arose.
PASSED_ON = {
    "fault.message",
    "error.message",
    "error.hint",
    "error['message']",
    "error['hint']",
    "interruption.message",
    "f'{refusal.message} {error.message}'",
    "str(error)",
}
AT_START = (  # of the settings file, before there is an engine
    "settings.toml: 'speech' must be a table [speech]; it is not used.",
    "settings.toml: this version has no setting 'speech.colour'; it is kept, unused.",
    "settings.toml: 'speech.rate' is too large. Until then 4.0 is in force.",
    "/x/settings.toml cannot be read (permission denied); the defaults are in force. "
    "The file is left as it is and will be copied before anything is written.",
)


WHY = (  # a recogniser or a synthesiser was chosen
    *(ears.NOT_FETCHED, ears.UNMEASURED, ears.ENGLISH_ONLY),
    *(ears.judge(ms).reason for ms in (300.0, 5000.0)),
    *(speech.ON_CARD, speech.NOT_FETCHED, speech.UNMEASURED),
    *(speech.judge(rtf).reason for rtf in (0.25, 0.9)),
    WHEN_IDLE,
)


ABOUT_VOICES = (
    *kokoro.ABOUT.values(),
    *(voice.description for voice in espeak.VOICES),
    "mixed of 70 % Heart, 30 % Emma",
)
WHY_NOT = (
    _why_not(("x",), Roster("y", (), can_clone=False), has_clip=True),
    _why_not(("x",), Roster("y", (), can_clone=False), has_clip=False),
)


@cache
def _modules() -> dict[Path, ast.Module]:
    return {each: ast.parse(each.read_text(encoding="utf-8")) for each in ENGINE.rglob("*.py")}


@cache
def _faults() -> set[str]:
    """EngineError and all that are derived from it, but for Cancelled, which is never shown."""
    nodes = [node for module in _modules().values() for node in ast.walk(module)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    found: set[str] = set()
    more = {"EngineError"}
    while more - found:
        found |= more
        more = {each.name for each in classes if found & {ast.unparse(b) for b in each.bases}}
    return found - {"Cancelled"}


def spoken() -> Iterator[tuple[str, ast.expr, ast.Module]]:
    """What a Notice, a Failed or a fault of the engine says: where, what, and its module."""
    for path, module in _modules().items():
        if path.relative_to(ENGINE).as_posix().startswith(LEFT_OUT):
            continue
        for node in ast.walk(module):
            if isinstance(node, ast.Call):
                for each in _texts(node, path.name):
                    yield f"{path.name}:{node.lineno}", each, module


def _texts(call: ast.Call, file: str) -> list[ast.expr]:
    name = ast.unparse(call.func).rsplit(".", 1)[-1]
    if name == "Failed":
        return call.args[1:3]
    if name == "_unreadable" and file == "voices.py":
        return call.args[1:2]  # a reason
    if name == "Notice" or name in _faults():
        return [*call.args, *(each.value for each in call.keywords if each.arg == "hint")]
    return []


def sentences(expression: ast.expr, module: ast.Module) -> list[str]:
    """What can be said there, as examples."""
    text = ast.unparse(expression)
    if text in PASSED_ON:
        return []
    match expression:
        case ast.Constant(value=str() as said_there):
            return [said_there]
        case ast.IfExp(body=one, orelse=other) if text not in ELSEWHERE:
            return sentences(one, module) + sentences(other, module)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ends = [sentences(each, module) for each in (left, right)]
            return ["".join(each) for each in product(*ends)]
        case ast.JoinedStr(values=values) if text not in ELSEWHERE:
            kinds = [each for place, each in PARTS.items() if place in text] or [("",)]
            return [
                "".join(each)
                for part in kinds[0]
                for each in product(*(_examples(value, part, module) for value in values))
            ]
        case ast.Call(func=ast.Attribute(attr="join")):
            return ["Xy"]
        case ast.Name() if found := _assigned(text, module):
            return found
        case _:
            return list(ELSEWHERE[text])


def _examples(value: ast.expr, part: str, module: ast.Module) -> list[str]:
    """What can stand at a place: a text that the module itself gives it, or anything."""
    match value:
        case ast.FormattedValue(value=ast.IfExp(body=ast.Constant(), orelse=ast.Constant()) as one):
            return sentences(one, module)
        case ast.FormattedValue(value=ast.Name(id=name)) if found := _assigned(name, module):
            return found
    return [_example(value, part)]


@cache
def _assigned(name: str, module: ast.Module) -> list[str]:
    """The texts that a name stands for in its module; a constant may be another module's."""
    modules: Iterable[ast.Module] = [module]
    if name.lstrip("_").isupper() and name not in _assignments(module):
        modules = _modules().values()
    found = [(value, each) for each in modules for value in _assignments(each).get(name, ())]
    return [text for each in found for text in sentences(*each)]


@cache
def _assignments(module: ast.Module) -> dict[str, list[ast.expr]]:
    """The texts that are given a name, by that name."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and _is_text(node.value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            used = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
            if isinstance(target, ast.Name) and target.id not in used:
                found.setdefault(target.id, []).append(node.value)
    return found


def _is_text(value: ast.expr) -> bool:
    match value:
        case ast.IfExp(body=one, orelse=other):
            return _is_text(one) and _is_text(other)
        case ast.Constant(value=str() as text):
            return bool(text)
        case _:
            return isinstance(value, ast.JoinedStr)


def _example(value: ast.expr, part: str) -> str:
    if isinstance(value, ast.Constant):
        return str(value.value)
    text = ast.unparse(value)
    if any(place in text for place in PARTS):
        return part
    return "'Xy'" if "!r" in text else "Xy"


@pytest.fixture(params=FOREIGN)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    words.choose(request.param)
    yield request.param
    words.choose("en")


@pytest.mark.usefixtures("language")
def test_every_notice_and_every_fault_has_a_translation() -> None:
    all_said = [
        (where, text)
        for where, said_there, module in spoken()
        for text in sentences(said_there, module)
    ]
    assert len(all_said) > 500
    untold = [(where, text) for where, text in all_said if not _is_told(text)]
    assert untold == []


def _is_told(text: str) -> bool:
    """Whether it is known as a whole, and has a translation if there are words in it."""
    has_words = re.search("[a-z]{2}", text.replace("Xy", ""))
    return not has_words or _translated(text) not in ("", text)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("reason", WHY)
def test_why_something_was_chosen_has_a_translation(reason: str) -> None:
    ready = told(Ready(Part.SYNTHESISER, "x", why=reason))
    assert isinstance(ready, Ready)
    assert ready.why not in ("", reason)


@pytest.mark.usefixtures("language")
def test_a_description_of_a_voice_is_translated_part_by_part() -> None:
    for text in ABOUT_VOICES:
        entry = VoiceEntry("x", description=text, why_not=WHY_NOT[0])
        listed = told(VoicesListed((entry,)))
        assert isinstance(listed, VoicesListed)
        assert listed.voices[0].why_not != WHY_NOT[0]
        for part in text.split(", ") if "mixed" not in text else [text]:
            assert _translated(part) != ""
            assert _translated(part) in listed.voices[0].description


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("text", AT_START)
def test_what_is_wrong_with_the_settings_has_a_translation(text: str) -> None:
    assert said(text) != text


def test_no_sentence_here_is_one_that_the_engine_does_not_say() -> None:
    examples = [
        text for _, said_there, module in spoken() for text in sentences(said_there, module)
    ]
    examples += [
        *AT_START,
        *WHY,
        *ABOUT_VOICES,
        *WHY_NOT,
        *ELSEWHERE["note"],
        *(reason for reason, _ in faults._WHY.values()),
        NO_REASON,
        "Connect one and switch it on in the system's sound settings.",
        "Connect one, and check that PipeWire or PulseAudio is "
        "running: 'pactl info' should name a default sink and a default source. Without "
        "a sound server, 'aplay -l' and 'arecord -l' should list a card.",
    ]
    known = {sentence for sentence in SENTENCES for text in examples if _is(sentence, text)}
    assert set(SENTENCES) - known == set()


def _is(sentence: str, text: str) -> bool:
    fixed = [part for part in _split(sentence) if part]
    return all(part in text for part in fixed)


def _split(sentence: str) -> list[str]:
    return [part.split("{")[0] for part in sentence.split("}")]


def test_a_name_stays_as_it_is() -> None:
    words.choose("de")
    try:
        assert told(Notice("Clara {x} was fetched.")) == Notice("Clara {x} wurde geholt.")
        fault = Failed("device", "The microphone 'USB {0}' has gone.", "Never seen before.")
        assert told(fault) == Failed(
            "device", "Das Mikrofon „USB {0}“ ist verschwunden.", "Never seen before."
        )
    finally:
        words.choose("en")


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("reason", [reason for reason, _ in faults._WHY.values()])
def test_why_a_conversation_is_not_kept_has_a_translation(reason: str) -> None:
    assert reason not in said(f"Conversations cannot be kept: {reason} (/x).")


def test_a_reason_and_each_of_two_sentences_are_translated_too() -> None:
    words.choose("de")
    try:
        fault = "settings.toml: The setting 'x' cannot be 9. Until then 4 is in force."
        assert said(fault) == (
            "settings.toml: Die Einstellung „x“ kann nicht 9 sein. Bis dahin gilt 4."
        )
        assert said("Try again. Ask Clara.") == "Versuch es noch einmal. Ask Clara."
        assert said('There is no voice called "Mum\'s".') == "Es gibt keine Stimme namens „Mum's“."
    finally:
        words.choose("en")


@pytest.mark.usefixtures("language")
def test_a_text_of_a_page_is_shown_as_it_is() -> None:
    known = "Listening failed: {}"
    assert said(known.format("no reason")) != known.format("no reason")
    assert said(known.format("x" * LONGEST)) == known.format("x" * LONGEST)
