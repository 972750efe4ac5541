"""What the engine can say of itself is known in every language of the window."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.language import words
from app.language.engine_texts import SENTENCES, said, told
from engine.api import Failed, Notice
from engine.audio.devices import portaudio
from engine.runtime.workers.ears import listener
from engine.tts.voxtream.synthesiser import NOT_CAPTURED

ROOT = Path(__file__).parents[3]
FOREIGN = [code for code in words.LANGUAGES if code != "en"]
PARTS = {  # what can stand at these places
    "noun": ("microphone", "loudspeaker"),
    "_part.value": ("recogniser", "language model", "synthesiser"),
}
# What stands where a sentence is told but is put together elsewhere, and what it can be.
ELSEWHERE = {
    "NO_CANCELLER": (listener.NO_CANCELLER,),
    "TOO_SOON": (listener.TOO_SOON,),
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
        "Say it again, or type it.",
        "Ask again, or choose another one in the settings.",
        "They are set aside as history.old; what is said from now on is in a new file.",
    ),
    "text": (
        "The words of what you said did not come.",
        "The voice has stood still for too long.",
        "The language model has stood still for too long.",
    ),
}
# A fault that is passed on was told of where it arose.
PASSED_ON = {"fault.message", "error.message", "error.hint"}
AT_START = (  # of the settings file, before there is an engine
    "settings.toml: 'speech' must be a table [speech]; it is not used.",
    "settings.toml: this version has no setting 'speech.colour'; it is kept, unused.",
    "settings.toml: 'speech.rate' is too large. Until then 4.0 is in force.",
)


def spoken() -> Iterator[tuple[str, ast.expr]]:
    """Every sentence of a Notice, a DeviceError or a Failed in the engine, and where it stands."""
    for path in (ROOT / "engine").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rsplit(".", 1)[-1]
            where = f"{path.name}:{node.lineno}"
            if name in ("Notice", "DeviceError"):
                yield from ((where, each) for each in node.args)
                yield from ((where, each.value) for each in node.keywords if each.arg == "hint")
            elif name == "Failed":
                yield from ((where, each) for each in node.args[1:3])


def sentences(expression: ast.expr) -> list[str]:
    """What can be said there, as an example."""
    match expression:
        case ast.Constant(value=str() as text):
            return [text]
        case ast.JoinedStr(values=values):
            text = ast.unparse(expression)
            kinds = [each for place, each in PARTS.items() if place in text] or [("",)]
            return ["".join(_example(each, part) for each in values) for part in kinds[0]]
        case _:
            text = ast.unparse(expression)
            return [] if text in PASSED_ON else list(ELSEWHERE[text])


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
def test_every_notice_and_every_fault_of_a_device_has_a_translation() -> None:
    all_said = [(where, text) for where, each in spoken() for text in sentences(each) if text]
    assert len(all_said) > 50
    untold = [(where, text) for where, text in all_said if said(text) == text]
    assert untold == []


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("text", AT_START)
def test_what_is_wrong_with_the_settings_has_a_translation(text: str) -> None:
    assert said(text) != text


def test_no_sentence_here_is_one_that_the_engine_does_not_say() -> None:
    examples = [text for _, each in spoken() for text in sentences(each)]
    examples += [
        *AT_START,
        *ELSEWHERE["note"],
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
