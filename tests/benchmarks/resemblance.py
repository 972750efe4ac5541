"""How near the voices that Kokoro learns from recordings come to the people in them.

Run: python -m tests.benchmarks.resemblance FOLDER [NAME ...] [--out OUT] [--rate SPS]
FOLDER holds for each person NAME.fit.flac, of which a voice is learnt as by `rubato say --voice`,
and NAME.held.flac, other speech of the same person. The voice speaks twelve sentences word by word
at its own rate, or at SPS. Printed for each person: the cosines with the held speech of the stock
voice that the judge finds nearest, of the learnt voice and of the person's other recording; the
share of the way from the first to the last; the cosine of the control, which is the nearer one of
that stock voice and the blend, each with the noise of the recording's pauses; the words that
Whisper base did not understand; P.808 of the sentences and of the recording (where `speechmos` is
installed); the CPU seconds that learning took. The means come last. OUT (resemblance-out by
default) keeps the judge's vectors of the stock voices for the next run, and the sentences of each
person for listening. A voice that was learnt already is not learnt again.

The judge is an encoder of speakers that takes no part in the product. It reads Resemblyzer, which
is not one of the program's packages: `pip install resemblyzer webrtcvad-wheels`. Kokoro and Whisper
base must have been fetched.

Run: python -m tests.benchmarks.resemblance measures
writes resources/kokoro/measures.safetensors: what is measured of the stock voices. Needs no judge.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
import soundfile
import soxr
from safetensors.numpy import save_file

from engine.asr import pick as recognisers
from engine.audio.clips.clip import read_clip
from engine.resources import resource
from engine.runtime.host.voice_learning import learn_recording
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.training.evaluation.voices import Spoken, WhisperJudge, naturalness, say, words_wrong
from engine.tts import registry, voices
from engine.tts.base import Pcm, TtsModel, Voice
from engine.tts.kokoro import resemblance
from engine.tts.kokoro.durations import make_script
from engine.tts.kokoro.fit.measuring import powers, sounding
from engine.tts.kokoro.parts import SAMPLE_RATE
from engine.tts.kokoro.symbols import ids
from engine.tts.kokoro.voices import (
    NAME,
    accent_of,
    model_file,
    read_voices,
    style_of,
    voices_folder,
)
from engine.tts.kokoro.windows import phoned
from engine.tts.speaker import recording as recordings

SENTENCES: Final = (
    "The boat left the harbour at ten past seven in the morning.",
    "Have you ever thought about moving somewhere quieter next year?",
    "The small grey cat jumped over a wooden fence and found some warm milk.",
    "My brother keeps his old tools in a box behind the kitchen door.",
    "We could walk along the river until the lights of the town come into view.",
    "If it rains tomorrow, the children will stay at home and read.",
    "The doctor asked me to come back on Thursday with the results.",
    "Please put the bread and the cheese on the table before the guests arrive.",
    "Nobody knew why the old clock in the hall had stopped again.",
    "She bought three yellow flowers and a book about the sea.",
    "Would you rather take the train or drive to the mountains this weekend?",
    "They finished the work early and went for a short walk in the snow.",
)
JUDGED: Final = SENTENCES[:6]  # the judge hears these of every voice, Whisper hears all
MEASURED: Final = SENTENCES[1:3]  # what the stock voices say to be measured
WORDS: Final = sum(len(text.split()) for text in SENTENCES)
NOISE_WINDOW: Final = 1024  # samples
QUIETEST: Final = 10  # percentile of the clip's levels: pauses
KOKORO: Final = SpeechSettings(engine=NAME)


@dataclass(frozen=True)
class Found:
    """Figures of one person: cosines, share of the way, words, P.808 (NaN = not rated), seconds."""

    stock: float
    learnt: float
    person: float
    way: float
    control: float
    wrong: int
    rated: float
    recording: float
    fit_s: float


def speak(text: str, voice: Voice) -> Pcm:
    """Samples at 24 kHz of a whole sentence by the published model, which takes a quarter of the
    time that a new voice's statistics take.
    """
    accent = accent_of(voice)
    words = phoned(_espeak(accent), text)
    script = make_script(words, [0.0] * len(words), closed=True, accent=accent)
    tokens = np.asarray([ids(script.text)], np.int64)
    values = (tokens, style_of(voice), np.ones(1, np.float32))
    names = [each.name for each in _published().get_inputs()]
    pcm: Pcm = _published().run(None, dict(zip(names, values, strict=True)))[0].reshape(-1)
    return pcm


def write_measures() -> None:
    """Of every stock voice, by the hash of its style."""
    rows = {}
    for voice in read_voices(voices_folder()):
        pcm = np.concatenate([speak(text, voice) for text in MEASURED])
        recording = recordings.read(pcm, SAMPLE_RATE)
        speaker = recording.speaker(resemblance.encoder())
        row = resemblance.measure(recording.speech, SAMPLE_RATE, speaker)
        rows[resemblance.style_hash(voice)] = row.astype(np.float32)
    save_file(rows, resource(*resemblance.MEASURES))


def stock_speakers(out: Path) -> dict[str, Any]:
    """The judge's vector of each stock voice."""
    file = out / "stock.npz"
    if not file.is_file():
        spoken = {
            voice.name: _mean([judged(speak(text, voice)) for text in JUDGED])
            for voice in read_voices(voices_folder())
        }
        np.savez(file, **spoken)
    return dict(np.load(file))


def find(
    model: TtsModel, clip: Path, stock: dict[str, Any], out: Path, rate: float | None
) -> tuple[Found | None, str]:
    """Figures of a person, and the nearest stock voice; None, and why, where nothing is learnt."""
    began = time.process_time()
    path, why = learn_recording(str(clip), KOKORO, lambda *_: None)
    fit_s = time.process_time() - began
    if path == str(clip):
        return None, why
    theirs = judged(_read(clip.with_name(clip.name.replace(".fit.", ".held."))))
    likest = max(stock, key=lambda name: float(stock[name] @ theirs))
    voice = voices.load(Path(path))
    said = [say(model, voice, text, rate) for text in SENTENCES]
    for number, spoken in enumerate(said, start=1):
        soundfile.write(out / f"{clip.name.split('.')[0]}-{number}.flac", spoken.pcm, SAMPLE_RATE)
    learnt = float(_mean([judged(spoken.pcm) for spoken in said[: len(JUDGED)]]) @ theirs)
    recorded = _read(clip)
    person, best = float(judged(recorded) @ theirs), float(stock[likest] @ theirs)
    control = max(
        float(_mean([judged(with_noise(pcm, recorded)) for pcm in sentences]) @ theirs)
        for sentences in _controls(model, recorded, likest, rate)
    )
    texts = [_whisper().hear(spoken.pcm, SAMPLE_RATE) for spoken in said]
    wrong = sum(words_wrong(*pair, _espeak()) for pair in zip(SENTENCES, texts, strict=True))
    rated = float(np.mean([_rate(spoken) for spoken in said]))
    recording = _rate(Spoken("", recorded, SAMPLE_RATE))
    way = (learnt - best) / (person - best)
    return Found(best, learnt, person, way, control, wrong, rated, recording, fit_s), likest


def _controls(
    model: TtsModel, recorded: Pcm, likest: str, rate: float | None
) -> Iterator[list[Pcm]]:
    """The judged sentences by the blend, and by the nearest stock voice."""
    blend = model.encode_voice(recorded, SAMPLE_RATE)
    yield [say(model, blend, text, rate).pcm for text in JUDGED]
    nearest = next(each for each in model.voices() if each.name == likest)
    yield [speak(text, nearest) for text in JUDGED]


def with_noise(said: Pcm, clip: Pcm) -> Pcm:
    """Speech with noise that has the spectrum of the clip's pauses, and their level relative to the
    clip's speech.
    """
    spectra = powers(clip, NOISE_WINDOW, NOISE_WINDOW)
    levels = spectra.sum(1)
    pauses = spectra[levels <= np.percentile(levels, QUIETEST)].mean(0)
    gains = np.sqrt(pauses / np.square(np.hanning(NOISE_WINDOW)).sum())
    noise = np.fft.rfft(np.random.default_rng(0).standard_normal(len(said)))
    noise *= np.interp(np.linspace(0, 1, len(noise)), np.linspace(0, 1, len(gains)), gains)
    level = np.sqrt(sounding(said)[0] / sounding(clip)[0])
    noisy: Pcm = (said + level * np.fft.irfft(noise, len(said))).astype(np.float32)
    return noisy


def main() -> None:
    lines = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=lines)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("resemblance-out"))
    parser.add_argument("--rate", type=float)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    stock = stock_speakers(options.out)
    model = registry.load(KOKORO, lambda *_: None)
    _write("name      stock learnt person   way control wrong P.808  clip   CPU s")
    rows: list[tuple[float, ...]] = []
    for clip in sorted(options.folder.glob("*.fit.flac")):
        name = clip.name.split(".")[0]
        if options.names and name not in options.names:
            continue
        found, note = find(model, clip, stock, options.out, options.rate)
        if found is None:
            _write(f"{name:9} not learnt: {note}")
            continue
        rows.append(astuple(found))
        _write(f"{_line(name, rows[-1])}  {note}")
    if rows:
        table = np.array(rows)
        nearer, controlled = ((table[:, 1] > table[:, place]).sum() for place in (0, 4))
        _write(_line("mean", table.mean(0)))
        share = 100 * table[:, 5].sum() / (WORDS * len(rows))
        _write(f"{nearer} of {len(rows)} nearer than the best stock voice, {controlled} than the")
        _write(f"control with the recording's noise; {share:.1f} % of the words wrong")


def judged(pcm: Pcm) -> Any:
    """The judge's vector of samples at 24 kHz, of length 1."""
    from resemblyzer import preprocess_wav  # the judge; installed separately

    samples = soxr.resample(pcm, SAMPLE_RATE, 16_000)
    return _judge().embed_utterance(preprocess_wav(samples, 16_000))


def _line(name: str, row: Any) -> str:
    stock, learnt, person, way, control, wrong, rated, recording, fit_s = row
    cosines = f"{stock:.3f} {learnt:6.3f} {person:6.3f} {way:6.2f} {control:7.3f}"
    return f"{name:9} {cosines} {wrong:5.1f} {rated:5.2f} {recording:5.2f} {fit_s:7.0f}"


def _mean(vectors: list[Any]) -> Any:
    mean = np.mean(vectors, 0)
    return mean / np.linalg.norm(mean)


def _rate(spoken: Spoken) -> float:
    found = naturalness(spoken)
    return found or float("nan")


def _read(file: Path) -> Pcm:
    clip = read_clip(file, max_seconds=60.0)
    return recordings.resampled(clip.pcm, clip.sample_rate, SAMPLE_RATE)


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@cache
def _published() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    file = str(model_file())
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


@cache
def _judge() -> Any:
    from resemblyzer import VoiceEncoder

    return VoiceEncoder("cpu", verbose=False)


_whisper = cache(lambda: WhisperJudge(recognisers.fetched()["whisper-base"]))
_espeak = cache(Espeak)

if __name__ == "__main__":
    write_measures() if sys.argv[1:] == ["measures"] else main()
