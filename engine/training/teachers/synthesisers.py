"""The synthesisers that speak the corpus, behind one function: text in, samples and the exact times
of their sounds out. flite, festival and espeak-ng are stretched to a rate; Kokoro speaks at a
requested rate.

Invariant: a take's sounds follow each other without gap or overlap from sample 0 to its end.
"""

import re
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
PACKAGES: Final = {"flite": "flite", "festival": "festival festvox-us-slt-hts"}
EXACT: Final = frozenset({"kokoro"})
LICENCES: Final = {
    "flite": "CMU Flite voices kal16, awb, rms, slt: Carnegie Mellon University's BSD-like licence",
    "festival": "festvox-us-slt-hts: CMU ARCTIC slt, HTS working group's BSD-like licence",
    "espeak": "eSpeak NG: GPL-3.0-or-later; speech made with it is not covered by the licence",
    "kokoro": "Kokoro-82M v1.0 by hexgrad: Apache-2.0; its card: permissively licensed and "
    "synthetic speech; ONNX by kokoro-onnx, MIT",
}


@dataclass(frozen=True)
class Request:
    """A text to speak. `stretch` lengthens every sound; `pitch_hz` applies if the voice follows it.

    A synthesiser in EXACT uses neither. It uses `rates` (SPS), one for each of equal parts of the
    words (none = the voice's own pace), and `mixed`, other voices and their shares.
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
    """A synthesiser's answer to a request: samples, and the times of their sounds."""

    pcm: npt.NDArray[np.float32]
    sample_rate: int
    sounds: tuple[Sound, ...]


Speak = Callable[[Sequence[Request]], list[Take | None]]
"""Takes in the order of the requests; None for one the synthesiser could not speak."""


def speak_all(name: str, requests: Sequence[Request]) -> list[Take | None]:
    """Speak requests with the synthesiser called `name`. InvalidInput when it is not known or not
    installed.
    """
    functions: dict[str, Speak] = {
        "flite": _flite,
        "festival": _festival,
        "espeak": _espeak,
        "kokoro": _kokoro,
    }
    if name not in functions:
        raise InvalidInput(
            "There is no synthesiser '{name}'.",
            hint="There are: {names}.",
            name=name,
            names=", ".join(functions),
        )
    if name in PACKAGES and not shutil.which(name):
        hint = f"On Debian: apt install {PACKAGES[name]}"
        raise InvalidInput("{name} is not installed.", hint=hint, name=name)
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
    pairs = [part.rsplit(":", 1) for part in process.stdout.split() if ":" in part]
    return _arpabet_take(wave, [(phone, float(end)) for phone, end in pairs])


# --------------------------------------------------------------------- festival


def _festival(requests: Sequence[Request]) -> list[Take | None]:
    """Speak all requests in one process, because loading the voice takes longer than a sentence."""
    with tempfile.TemporaryDirectory(prefix="rubato-festival-") as folder:
        lines = ["(voice_cmu_us_slt_arctic_hts)"]
        for number, request in enumerate(requests):
            text = re.sub(r'["\\]', "", request.text)
            start = f"{folder}/{number}"
            lines += [
                f"(Parameter.set 'Duration_Stretch {request.stretch:.3f})",
                f'(set! said (utt.synth (Utterance Text "{text}")))',
                f'(utt.save.wave said "{start}.wav" \'riff)',
                f'(utt.save.segs said "{start}.segs")',
            ]
        script = Path(folder) / "speak.scm"
        script.write_text("\n".join(lines), encoding="utf-8")
        starts = [Path(folder) / str(number) for number in range(len(requests))]
        try:
            subprocess.run(
                ["festival", "-b", str(script)],
                capture_output=True,
                timeout=SECONDS_PER_CALL * max(1, len(requests)),
                check=False,
            )
        except subprocess.TimeoutExpired:
            # festival was killed in the last take that has a file: that one is incomplete
            begun = [start for start in starts if start.with_suffix(".wav").is_file()]
            starts = [start if start in begun[:-1] else Path(folder) / "none" for start in starts]
        return [_festival_take(start) for start in starts]


def _festival_take(start: Path) -> Take | None:
    wave, segments = start.with_suffix(".wav"), start.with_suffix(".segs")
    if not wave.is_file() or not segments.is_file():
        return None
    rows = [line.split() for line in segments.read_text().splitlines()]
    return _arpabet_take(wave, [(row[2], float(row[0])) for row in rows if len(row) == 3])


def _arpabet_take(wave: Path, phones: Sequence[tuple[str, float]]) -> Take | None:
    """Return a take from a wave file, given its phones and the seconds at which they end."""
    pcm, sample_rate = soundfile.read(wave, dtype="float32")
    wave.unlink()
    spelt, start = [], 0
    for phone, end_seconds in phones:
        if phone not in sounds.ARPABET:
            return None
        end = max(start, min(round(end_seconds * sample_rate), len(pcm)))
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
    from engine.training.teachers.whole_sentences import blended_voice, say  # loads Kokoro
    from engine.tts.kokoro.source import SAMPLE_RATE

    said = say(blended_voice(request.voice, request.mixed), request.text, request.rates)
    return _ipa_take(said.pcm, SAMPLE_RATE, said.phones) if said else None


def _ipa_take(
    pcm: npt.NDArray[np.float32], sample_rate: int, phones: Sequence[tuple[str, int]]
) -> Take | None:
    """Return a take from phones in espeak's spelling ("" = silence), each with its first sample.
    None if a phone is unknown.
    """
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
    """Return a take from phones, each as its sounds, first sample and end. Several sounds of a
    phone get equal parts of it.
    """
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
