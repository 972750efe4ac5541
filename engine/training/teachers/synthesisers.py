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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import soundfile

from engine.errors import InvalidInput
from engine.training.teachers.sounds import ARPABET, PAUSE, Sound, of_ipa

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
class Take:
    """A synthesiser's answer to a request: samples, and the times of their sounds."""

    pcm: npt.NDArray[np.float32]
    sample_rate: int
    sounds: tuple[Sound, ...]


def speak_all(name: str, requests: Sequence[Request]) -> list[Take | None]:
    """Speak requests with the synthesiser called `name`. Return takes in the same order; None for a
    request that it could not speak. InvalidInput when it is not known or not installed.
    """
    functions: dict[str, Callable[[Sequence[Request]], list[Take | None]]] = {
        "flite": _flite,
        "festival": _festival,
        "espeak": _espeak,
        "kokoro": _kokoro,
    }
    if name not in functions:
        hint = f"There are: {', '.join(functions)}."
        raise InvalidInput(f"There is no synthesiser '{name}'.", hint=hint)
    if name in PACKAGES and not shutil.which(name):
        hint = f"On Debian: apt install {PACKAGES[name]}"
        raise InvalidInput(f"{name} is not installed.", hint=hint)
    return functions[name](requests) if requests else []


def _flite(requests: Sequence[Request]) -> list[Take | None]:
    with tempfile.TemporaryDirectory(prefix="rubato-flite-") as folder:
        return [_flite_take(request, Path(folder) / "take.wav") for request in requests]


def _flite_take(request: Request, wave: Path) -> Take | None:
    command = ["flite", "-voice", request.voice, "-psdur"]
    command += ["--setf", f"duration_stretch={request.stretch:.3f}"]
    command += ["--setf", f"int_f0_target_mean={request.pitch_hz:.1f}"]
    command += ["-t", request.text, "-o", str(wave)]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_PER_CALL, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    pairs = [part.rsplit(":", 1) for part in process.stdout.split() if ":" in part]
    return _arpabet_take(wave, [(phone, float(end)) for phone, end in pairs])


def _festival(requests: Sequence[Request]) -> list[Take | None]:
    """Speak all requests in one process, because loading the voice takes longer than a sentence."""
    with tempfile.TemporaryDirectory(prefix="rubato-festival-") as folder:
        lines = ["(voice_cmu_us_slt_arctic_hts)"]
        starts = [Path(folder) / str(number) for number in range(len(requests))]
        for start, request in zip(starts, requests, strict=True):
            text = re.sub(r'["\\]', "", request.text)
            lines += [
                f"(Parameter.set 'Duration_Stretch {request.stretch:.3f})",
                f'(set! said (utt.synth (Utterance Text "{text}")))',
                f'(utt.save.wave said "{start}.wav" \'riff)',
                f'(utt.save.segs said "{start}.segs")',
            ]
        script = Path(folder) / "speak.scm"
        script.write_text("\n".join(lines), encoding="utf-8")
        command, seconds = ["festival", "-b", str(script)], SECONDS_PER_CALL * len(requests)
        try:
            subprocess.run(command, capture_output=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            # festival was killed in the last take that has a file: that one is incomplete
            begun = [start for start in starts if start.with_suffix(".wav").is_file()]
            starts = [start if start in begun[:-1] else Path(folder) / "none" for start in starts]
        return [_festival_take(start) for start in starts]


def _festival_take(start: Path) -> Take | None:
    wave, segments = start.with_suffix(".wav"), start.with_suffix(".segs")
    if not segments.is_file():
        return None
    rows = [line.split() for line in segments.read_text().splitlines()]
    return _arpabet_take(wave, [(row[2], float(row[0])) for row in rows if len(row) == 3])


def _arpabet_take(wave: Path, phones: Sequence[tuple[str, float]]) -> Take | None:
    """Return a take from a wave file, given its phones and the seconds at which they end."""
    pcm, sample_rate = soundfile.read(wave, dtype="float32")
    if any(phone not in ARPABET for phone, _ in phones):
        return None
    starts = [0, *(round(seconds * sample_rate) for _, seconds in phones[:-1])]
    spelt = [(ARPABET[phone], start) for (phone, _), start in zip(phones, starts, strict=False)]
    return _take(pcm, int(sample_rate), spelt)


def _espeak(requests: Sequence[Request]) -> list[Take | None]:
    from engine.tts.espeak.library import SAMPLE_RATE, Espeak  # loads libespeak-ng

    library, takes = Espeak.claim(), list[Take | None]()
    try:
        for request in requests:
            pace = min(450, max(80, round(170 / request.stretch)))  # words per minute
            speech = library.speak(request.text, voice=request.voice, words_per_minute=pace)
            phones = [(each.ipa, each.sample) for each in speech.phones]
            takes.append(_ipa_take(speech.pcm, SAMPLE_RATE, phones))
    finally:
        library.release()
    return takes


def _kokoro(requests: Sequence[Request]) -> list[Take | None]:
    from engine.training.teachers.whole_sentences import blended_voice, say  # loads Kokoro
    from engine.tts.kokoro.source import SAMPLE_RATE

    takes = list[Take | None]()
    for request in requests:
        said = say(blended_voice(request.voice, request.mixed), request.text, request.rates)
        takes.append(_ipa_take(said[0], SAMPLE_RATE, said[1]) if said else None)
    return takes


def _ipa_take(
    pcm: npt.NDArray[np.float32], sample_rate: int, phones: Sequence[tuple[str, int]]
) -> Take | None:
    """Return a take from phones ("" = silence) with their first samples; None if one is unknown."""
    try:
        spelt = [(of_ipa(phone) or (PAUSE,), start) for phone, start in phones]
    except KeyError:
        return None
    return _take(pcm, sample_rate, spelt)


def _take(
    pcm: npt.NDArray[np.float32], sample_rate: int, phones: Sequence[tuple[tuple[str, ...], int]]
) -> Take | None:
    """Return a take from phones, each as its sounds and its first sample; None if there are none.
    Several sounds of a phone get equal parts of it.
    """
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
