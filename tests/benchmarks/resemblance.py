"""How near Kokoro's resembling voices come to unseen speakers, judged by Resemblyzer.

Run: python -m tests.benchmarks.resemblance measures
writes resources/kokoro/measures.safetensors: what is measured of the stock voices.
Run: python -m tests.benchmarks.resemblance FOLDER
The speakers are the voices in FOLDER (Kokoro's of other languages, .bin, speaking English), and
half as many blends of stock voices, warped. Prints the share of speakers to whom the resembling
voice is nearer than the stock voice nearest by the judge, than the one nearest by the fit's own
encoder, and than the built-in voice's clone, each with a 95 % interval. Needs Kokoro and
`resemblyzer`.
"""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
import soxr
from resemblyzer import VoiceEncoder, preprocess_wav
from safetensors.numpy import save_file

from engine.resources import resource
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak, WordPhonemizer
from engine.training.evaluation.performance import say
from engine.tts.base import Pcm, TtsModel, Voice
from engine.tts.kokoro import place, resemblance
from engine.tts.kokoro.durations import make_script
from engine.tts.kokoro.source import SAMPLE_RATE
from engine.tts.kokoro.symbols import ids
from engine.tts.kokoro.voices import (
    AMERICAN,
    BRITISH,
    NAME,
    STYLE,
    blend,
    is_british,
    read_voices,
    style_of,
)
from engine.tts.speaker import recording as recordings
from engine.tts.voxtream.files import loading

PROMPT: Final = "We walked along the river until the lights of the town came into view."
TOLD: Final = "The small grey cat jumped over a wooden fence and found some warm milk."
OTHER: Final = "Have you ever thought about moving somewhere quieter next year?"
SEED: Final = 7


def speak(text: str, voice: Voice) -> Pcm:
    """Samples at 24 kHz of a whole sentence by the published model, which takes a quarter of the
    time that a new voice's statistics take.
    """
    british = is_british(voice)
    phonemizer = WordPhonemizer(_espeak(BRITISH if british else AMERICAN))
    words = [ready for word in text.split() for ready in phonemizer.push(word)]
    words += phonemizer.finish()
    script = make_script(words, [0.0] * len(words), closed=True, british=british)
    tokens = np.asarray([ids(script.text)], np.int64)
    values = (tokens, style_of(voice), np.ones(1, np.float32))
    names = [each.name for each in _published().get_inputs()]
    pcm: Pcm = _published().run(None, dict(zip(names, values, strict=True)))[0].reshape(-1)
    return pcm


def write_measures() -> None:
    """Of every stock voice, by the hash of its style."""
    rows = {}
    for voice in read_voices(place.voices_folder()):
        pcm = np.concatenate([speak(text, voice) for text in (TOLD, OTHER)])
        rows[resemblance.style_hash(voice)] = measured(pcm).astype(np.float32)
    save_file(rows, resource("kokoro") / resemblance.MEASURES[-1])


def measured(pcm: Pcm) -> Any:
    """What the fit knows of samples at 24 kHz."""
    recording = recordings.read(pcm, SAMPLE_RATE)
    speaker = recording.speaker(resemblance.encoder())
    return resemblance.measure(recording.speech, SAMPLE_RATE, speaker)


def unseen(folder: Path, stock: Sequence[Voice]) -> list[tuple[str, Voice, float]]:
    """Speakers: a name, a voice, and a factor on pitch and formants."""
    known = {resemblance.style_hash(voice) for voice in stock}
    people = []
    for file in sorted(folder.glob("*.bin")):
        style = np.fromfile(file, "<f4").reshape(510, 256)[60]
        voice = Voice(file.stem, NAME, {STYLE: style})
        if resemblance.style_hash(voice) not in known:
            people.append((file.stem, voice, 1.0))
    draw = np.random.default_rng(SEED)
    for number in range(len(people) // 2):
        one, two = draw.choice(len(stock), 2, replace=False)
        share = draw.uniform(0.55, 0.8)
        mixed = blend(f"mixed {number}", ((stock[one], share), (stock[two], 1 - share)))
        people.append((mixed.name, mixed, float(2 ** draw.uniform(-0.15, 0.15))))
    return people


def main() -> None:
    stock = read_voices(place.voices_folder())
    own = np.array([judged(speak(TOLD, voice)) for voice in stock])
    rows = resemblance.measures_of(stock)
    built_in = loading.load_starter(SpeechSettings(engine="starter"), lambda *_: None)
    groups: dict[str, list[tuple[float, ...]]] = {}
    for name, voice, warp in unseen(Path(sys.argv[1]), stock):
        prompt, other = (_warped(speak(text, voice), warp) for text in (PROMPT, OTHER))
        made = resemblance.resembling(stock, prompt, SAMPLE_RATE)
        width = len(measured(prompt)) - 17
        likest = int((rows[:, :width] @ measured(prompt)[:width]).argmax())
        theirs = judged(other)
        cosines = own @ theirs
        clone = judged(_cloned(built_in, prompt))
        found = (judged(speak(TOLD, made)) @ theirs, cosines.max(), cosines[likest], clone @ theirs)
        groups.setdefault("mixed" if "mixed" in name else "other", []).append(found)
        _write(" ".join([name, *(f"{each:.3f}" for each in found)]))
    for group, all_found in groups.items():
        table = np.array(all_found)
        _write(f"{group}: {len(table)} speakers; mean cosines of the resembling voice, of the")
        _write(f"stock voice nearest by judge and by fit, of the clone: {table.mean(0).round(3)}")
        for column, against in enumerate(("judge's nearest", "fit's nearest", "clone"), start=1):
            _write(f"nearer than the {against}: {_share(table[:, 0] > table[:, column])}")


def judged(pcm: Pcm) -> Any:
    """Resemblyzer's vector of samples at 24 kHz."""
    samples = soxr.resample(pcm, SAMPLE_RATE, 16_000)
    return _judge().embed_utterance(preprocess_wav(samples, 16_000))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _cloned(model: TtsModel, prompt: Pcm) -> Pcm:
    spoken = say(model, model.encode_voice(prompt, SAMPLE_RATE), TOLD)
    return np.asarray(soxr.resample(spoken.pcm.astype(np.float32), spoken.sample_rate, SAMPLE_RATE))


def _warped(pcm: Pcm, warp: float) -> Pcm:
    return np.asarray(soxr.resample(pcm, SAMPLE_RATE * warp, SAMPLE_RATE)) if warp != 1 else pcm


def _share(hits: Any) -> str:
    """Percent with Wilson's interval."""
    count, share, z = len(hits), float(np.mean(hits)), 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return f"{100 * share:.0f} % ({100 * (middle - half):.0f} to {100 * (middle + half):.0f})"


@cache
def _published() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    file = str(place.model_file())
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


@cache
def _judge() -> Any:
    return VoiceEncoder("cpu", verbose=False)


_espeak = cache(Espeak)

if __name__ == "__main__":
    write_measures() if sys.argv[1:] == ["measures"] else main()
