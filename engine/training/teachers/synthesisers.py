"""The synthesisers that speak the corpus, behind one function: text in, samples and the exact times
of their sounds out. flite and espeak-ng are stretched to a rate. Kokoro speaks complete sentences
at a requested rate, as it was published: a sentence is planned when all of its words are known.

Invariants: a take's sounds follow each other without gap or overlap from sample 0 to its end. A
phone of Kokoro begins where its first symbol begins, so nothing has to be aligned.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import soundfile

from engine.assets.catalogue import find
from engine.errors import InvalidInput
from engine.models import storage
from engine.settings import SpeechSettings
from engine.training.teachers.sounds import ARPABET, PAUSE, Sound, of_ipa
from engine.tts import registry
from engine.tts.base import Pcm
from engine.tts.kokoro.parts import FRAME
from engine.tts.kokoro.parts import SAMPLE_RATE as KOKORO_RATE
from engine.tts.kokoro.plan import Plan, PlanRequest, make_plan
from engine.tts.kokoro.session import VoiceParts
from engine.tts.kokoro.symbols import next_words, symbols
from engine.tts.kokoro.synthesiser import KokoroSynthesiser
from engine.tts.kokoro.voices import NAME
from engine.tts.kokoro.windows import faded_out, phoned, render, with_silences
from engine.tts.rate import PLAIN

SECONDS_PER_CALL: Final = 120.0
EXACT: Final = frozenset({NAME})
LICENCES: Final = {
    "flite": "CMU Flite voices kal16, awb, rms, slt: Carnegie Mellon University's BSD-like licence",
    "espeak": "eSpeak NG: GPL-3.0-or-later; speech made with it is not covered by the licence",
    "kokoro": "Kokoro-82M v1.0 by hexgrad: Apache-2.0; its card: permissively licensed and "
    "synthetic speech; ONNX by kokoro-onnx, MIT",
}


@dataclass(frozen=True)
class Request:
    """A text to speak. `stretch` lengthens every sound; `pitch_hz` applies if the voice follows it.

    A synthesiser in EXACT uses neither, but `rate` (SPS, None = the voice's own pace).
    """

    text: str
    voice: str
    stretch: float
    pitch_hz: float
    rate: float | None = None


@dataclass(frozen=True)
class Take:
    """A synthesiser's answer to a request: samples, and the times of their sounds."""

    pcm: Pcm
    sample_rate: int
    sounds: tuple[Sound, ...]


def check_installed(name: str) -> None:
    """InvalidInput when a synthesiser is not known or not installed."""
    if name not in LICENCES:
        hint = f"There are: {', '.join(LICENCES)}."
        raise InvalidInput(f"There is no synthesiser '{name}'.", hint=hint)
    if name == "flite" and not shutil.which(name):
        raise InvalidInput("flite is not installed.", hint="On Debian: apt install flite")


def speak(name: str, request: Request) -> Take | None:
    """Speak a request with the synthesiser called `name`; None if it could not."""
    functions = {"flite": _flite_take, "espeak": _espeak_take, NAME: _kokoro_take}
    return functions[name](request)


def _flite_take(request: Request) -> Take | None:
    command = ["flite", "-voice", request.voice, "-psdur"]
    command += ["--setf", f"duration_stretch={request.stretch:.3f}"]
    command += ["--setf", f"int_f0_target_mean={request.pitch_hz:.1f}"]
    with tempfile.NamedTemporaryFile(prefix="rubato-flite-", suffix=".wav") as wave:
        command += ["-t", request.text, "-o", wave.name]
        try:
            process = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS_PER_CALL, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            return None
        pcm, sample_rate = soundfile.read(wave.name, dtype="float32")
    phones = [part.rsplit(":", 1) for part in process.stdout.split() if ":" in part]
    if any(phone not in ARPABET for phone, _ in phones):
        return None
    starts = [0, *(round(float(end) * sample_rate) for _, end in phones[:-1])]
    spelt = [(ARPABET[phone], start) for (phone, _), start in zip(phones, starts, strict=False)]
    return _take(pcm, int(sample_rate), spelt)


def _espeak_take(request: Request) -> Take | None:
    from engine.tts.espeak.library import SAMPLE_RATE, Espeak  # loads libespeak-ng

    library = Espeak.claim()
    try:
        pace = min(450, max(80, round(170 / request.stretch)))  # words per minute
        speech = library.speak(request.text, voice=request.voice, words_per_minute=pace)
    finally:
        library.release()
    return _ipa_take(speech.pcm, SAMPLE_RATE, [(each.ipa, each.sample) for each in speech.phones])


def _ipa_take(pcm: Pcm, sample_rate: int, phones: Sequence[tuple[str, int]]) -> Take | None:
    """Return a take from phones ("" = silence) with their first samples; None if one is unknown."""
    try:
        spelt = [(of_ipa(phone) or (PAUSE,), start) for phone, start in phones]
    except KeyError:
        return None
    return _take(pcm, sample_rate, spelt)


def _take(pcm: Pcm, sample_rate: int, phones: Sequence[tuple[tuple[str, ...], int]]) -> Take | None:
    """Return a take from phones, whose sounds share their time; None if there are none."""
    listed: list[Sound] = []
    edges = np.clip([0, *(start for _, start in phones[1:]), len(pcm)], 0, len(pcm))
    edges = np.maximum.accumulate(edges)
    for (spelling, _), start, end in zip(phones, edges[:-1], edges[1:], strict=False):
        inner = np.linspace(start, end, len(spelling) + 1).round().astype(int).tolist()
        for name, first, last in zip(spelling, inner[:-1], inner[1:], strict=True):
            if listed and name == PAUSE == listed[-1].name:
                listed[-1] = replace(listed[-1], end=last)
            else:
                listed.append(Sound(name, first, last))
    return Take(pcm, sample_rate, tuple(listed)) if listed else None


def fetch(name: str) -> Path:
    """Return a model's folder; fetch it and the models that it needs if it is incomplete."""
    if folder := storage.default_store().complete_folder(name):
        return folder
    asset = find(name)
    sys.stderr.write(f"fetching {asset.title}, {asset.megabytes} MB\n")
    return storage.fetch(name, lambda file, done, total: None)[-1]


@cache
def kokoro() -> KokoroSynthesiser:
    """Return Kokoro, fetched and with its graph cut. AssetError, ModelError."""
    fetch(NAME)
    loaded = registry.load(SpeechSettings(engine=NAME), lambda text, share: None)
    assert isinstance(loaded, KokoroSynthesiser)
    return loaded


@lru_cache(maxsize=256)  # half a megabyte each
def kokoro_voice(name: str) -> VoiceParts:
    """Return a voice of Kokoro, ready to speak."""
    return kokoro().voice_parts(next(each for each in kokoro().voices() if each.name == name))


def _kokoro_take(request: Request) -> Take | None:
    """Speak a text at exactly its rate; None for a text without a sound."""
    speaking = kokoro_voice(request.voice)
    words, texts = phoned(speaking.espeak, request.text), request.text.casefold().split()
    pieces: list[Pcm] = []
    phones = [("", 0)]
    first, length = 0, 0
    late: float | None = None
    while more := next_words(words[first:], len(words), all_known=True, texts=texts[first:]):
        paces = (PLAIN,) * len(more[0])
        asked = PlanRequest(more[0], paces, request.rate, closed=True)
        plan = make_plan(speaking.parts, speaking.speaker, asked, None, 0, late)
        span = plan.first, plan.limit
        pcm = render(speaking.parts, speaking.voice_inputs, plan, *span).clip(-1, 1)
        pcm, places = with_silences(plan, pcm, *span)
        faded_out(pcm)
        edges = length + places[(plan.edges - plan.first).clip(0, len(places) - 1)]
        phones += _timed(plan, edges.tolist(), accent=speaking.speaker.accent)
        rest = np.zeros(FRAME * (len(plan.features) - plan.limit), np.float32)
        pieces += [pcm, rest]
        first, late = first + len(paces), plan.late_at_end
        length += len(pcm) + len(rest)
    return _ipa_take(np.concatenate(pieces), KOKORO_RATE, phones) if pieces else None


def _timed(plan: Plan, places: Sequence[int], *, accent: str) -> Iterator[tuple[str, int]]:
    """Yield a plan's phones and the silence ("") at its marks, with their first samples."""
    script = plan.script
    for word, first, end in zip(plan.request.words, script.firsts, script.ends, strict=True):
        at = first
        for phone in word.phones:
            yield phone, places[at]
            at += len(symbols(phone, accent))
        if word.phones and script.text[end : end + 1].strip():
            yield "", places[end]
