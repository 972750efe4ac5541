"""The synthesisers that speak the corpus, behind one function: text in, samples and the exact times
of their sounds out. flite and espeak-ng are stretched; Kokoro keeps rates by itself.

Invariant: a take's sounds follow each other without gap or overlap from sample 0 to its end.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import soundfile

from engine.errors import InvalidInput
from engine.training.teachers import sounds

SECONDS_PER_CALL: Final = 120.0
EXACT: Final = frozenset({"kokoro"})
LICENCES: Final = {
    "flite": "CMU Flite voices kal16, awb, rms, slt: Carnegie Mellon University's BSD-like licence",
    "espeak": "eSpeak NG: GPL-3.0-or-later; speech made with it is not covered by the licence",
    "kokoro": "Kokoro-82M v1.0 by hexgrad: Apache-2.0; its card: permissively licensed and "
    "synthetic speech; ONNX by kokoro-onnx, MIT",
}


@dataclass(frozen=True)
class Request:
    """A text to speak: `stretch` lengthens every sound, `pitch_hz` where the voice allows it. A
    synthesiser in EXACT has neither: `rates` (SPS) hold for equal parts of the words, none means
    the voice's own pace, and `mixed` are other voices with their shares.
    """

    text: str
    voice: str
    stretch: float
    pitch_hz: float
    rates: tuple[float, ...] = ()
    mixed: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Sound:
    """One sound from `start` to `end`, in samples of its take."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Take:
    """A synthesiser's answer to a request."""

    pcm: npt.NDArray[np.float32]
    sample_rate: int
    sounds: tuple[Sound, ...]


Speak = Callable[[Sequence[Request]], list[Take | None]]
"""Takes in the order of the requests; None for one the synthesiser could not speak."""


def speak_all(name: str, requests: Sequence[Request]) -> list[Take | None]:
    """Speak requests with the synthesiser called `name`. InvalidInput when it is not known or not
    installed.
    """
    functions: dict[str, Speak] = {"flite": _flite, "espeak": _espeak, "kokoro": _kokoro}
    if name not in functions:
        raise InvalidInput(
            "There is no synthesiser '{name}'.",
            hint="There are: {names}.",
            name=name,
            names=", ".join(functions),
        )
    if name == "flite" and not shutil.which("flite"):
        raise InvalidInput("flite is not installed.", hint="On Debian: apt install flite")
    return functions[name](requests) if requests else []


# ------------------------------------------------------------------------ flite


def _flite(requests: Sequence[Request]) -> list[Take | None]:
    with tempfile.TemporaryDirectory(prefix="rubato-flite-") as folder:
        return [_flite_take(request, Path(folder) / "take.wav") for request in requests]


def _flite_take(request: Request, wave: Path) -> Take | None:
    settings = [
        f"duration_stretch={request.stretch:.3f}",
        f"int_f0_target_mean={request.pitch_hz:.1f}",
    ]
    options = [part for setting in settings for part in ("--setf", setting)]
    about = ["-voice", request.voice, "-psdur", *options]
    command = ["flite", *about, "-t", request.text, "-o", str(wave)]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_PER_CALL, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    if process.returncode != 0 or not wave.is_file():
        return None
    pcm, sample_rate = soundfile.read(wave, dtype="float32")
    wave.unlink()
    spelt, start = [], 0
    pairs = [part.rsplit(":", 1) for part in process.stdout.split() if ":" in part]
    for phone, end_seconds in pairs:
        if phone not in sounds.ARPABET:
            return None
        end = max(start, min(round(float(end_seconds) * sample_rate), len(pcm)))
        spelt.append((sounds.ARPABET[phone], start, end))
        start = end
    return _take(pcm, int(sample_rate), spelt)


# ----------------------------------------------------------------------- espeak


def _espeak(requests: Sequence[Request]) -> list[Take | None]:
    from engine.tts.espeak.library import Espeak  # loads libespeak-ng

    library = Espeak.claim()
    try:
        return [_espeak_take(library, request) for request in requests]
    finally:
        library.release()


def _espeak_take(library: object, request: Request) -> Take | None:
    from engine.tts.espeak.library import SAMPLE_RATE, Espeak

    assert isinstance(library, Espeak)
    words_per_minute = min(450, max(80, round(170 / request.stretch)))
    speech = library.speak(request.text, voice=request.voice, words_per_minute=words_per_minute)
    return _ipa_take(speech.pcm, SAMPLE_RATE, [(each.ipa, each.sample) for each in speech.phones])


# ----------------------------------------------------------------------- Kokoro


def _kokoro(requests: Sequence[Request]) -> list[Take | None]:
    return [_kokoro_take(request) for request in requests]


def _kokoro_take(request: Request) -> Take | None:
    from engine.training.teachers.whole_sentences import machine, say  # loads Kokoro
    from engine.tts.kokoro.source import SAMPLE_RATE

    said = say(machine(request.voice, request.mixed), request.text, request.rates)
    return _ipa_take(said.pcm, SAMPLE_RATE, said.phones) if said else None


def _ipa_take(
    pcm: npt.NDArray[np.float32], sample_rate: int, phones: Sequence[tuple[str, int]]
) -> Take | None:
    """A take from phones as espeak spells them ("" = silence) with the sample of each one's
    start."""
    ends = [*(start for _, start in phones[1:]), len(pcm)]
    try:
        sounds_ = [
            (sounds.of_ipa(phone) or (sounds.PAUSE,), start, max(start, end))
            for (phone, start), end in zip(phones, ends, strict=True)
        ]
    except KeyError:
        return None
    return _take(pcm, sample_rate, sounds_)


def _take(
    pcm: npt.NDArray[np.float32],
    sample_rate: int,
    phones: Sequence[tuple[tuple[str, ...], int, int]],
) -> Take | None:
    """Sounds from phones; those of a phone that is several sounds get equal parts of it."""
    listed: list[Sound] = []
    for spelling, start, end in phones:
        edges = np.linspace(start, end, len(spelling) + 1).round().astype(int)
        for name, first, last in zip(spelling, edges[:-1], edges[1:], strict=True):
            if listed and name == sounds.PAUSE == listed[-1].name:
                listed[-1] = Sound(name, listed[-1].start, int(last))
            else:
                listed.append(Sound(name, int(first), int(last)))
    if not listed:
        return None
    listed[0] = Sound(listed[0].name, 0, listed[0].end)
    listed[-1] = Sound(listed[-1].name, listed[-1].start, max(listed[-1].start, len(pcm)))
    return Take(pcm, sample_rate, tuple(listed))
