"""How well and how soon the recognisers hear, side by side: words wrong, the time after the end of
speech, and what is invented where nobody speaks.

Invariant: both hear the same samples, flite's voices in a faint hiss. What other programs take is
not left out, so the load stands beside every figure.

    python -m tests.benchmarks.ears                      both, all of it: some ten minutes
    python -m tests.benchmarks.ears --what speed         from the end of speech, by beams, threads
    python -m tests.benchmarks.ears --what noise         ten minutes of noise, music and coughs
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence

import jiwer
import numpy as np
from num2words import num2words
from scipy import signal

from engine.asr.base import SAMPLE_RATE, Recogniser
from engine.asr.pick import NAMES, load, resolve
from engine.asr.whisper import model
from engine.asr.whisper import recogniser as whisper
from engine.audio.base import Pcm
from engine.bench import hear
from engine.runtime.factories import standard_factories
from engine.settings import RecogniserSettings
from tests.benchmarks.turn_texts import REQUESTS
from tests.end_to_end import spoken as flite
from tests.simulation import people
from tests.simulation.room import RATE, at_level

QUESTIONS = (
    "who wrote the old man and the sea",
    "how do I get a coffee stain out of a white shirt",
    "what is the difference between a crow and a raven",
    "how long should I boil an egg",
    "where do swallows go in the winter",
    "what should I cook for six friends on saturday",
    "why do cats sleep so much",
    "who was the first woman to fly across the atlantic",
    "is it true that honey never goes bad",
    "what happens when a star runs out of fuel",
    "tell me a joke about a penguin and a lawyer",
    "how do I change a flat tire",
    "why are there so many languages in europe",
    "what should I say at my brother's wedding",
    "can plants grow without any sunlight",
    "how can I fall asleep more quickly",
)
PIECE = SAMPLE_RATE // 10
MARGIN_S = 0.3
NOISE_S = 10.0  # of one stretch without speech
TIMED = 8  # questions


def spoken(text: str, number: int) -> Pcm:
    """By the voices in turn, in a faint hiss, with some silence on both sides."""
    said = people.spoken(text, people.VOICES[number % len(people.VOICES)]).pcm
    margin = np.zeros(round(MARGIN_S * RATE), np.float32)
    pcm = np.concatenate([margin, said, margin])
    hiss = np.random.default_rng(number).normal(0, 2e-4, len(pcm))
    return (pcm + hiss).astype(np.float32)


def transcript(recogniser: Recogniser, pcm: Pcm) -> str:
    """What is heard in the end."""
    recognition = recogniser.open()
    for first in range(0, len(pcm), PIECE):
        recognition.push(pcm[first : first + PIECE])
    text = recognition.finish().text
    recognition.close()
    return text


def plain(text: str) -> str:
    """Lower-case words, figures in words."""
    spelt = re.sub(r"\d+", lambda found: f" {num2words(int(found[0]))} ", text.lower())
    spelt = spelt.replace("%", " percent").replace(" x ", " times ").replace("-", " ")
    return " ".join(re.findall(r"[a-z']+", spelt))


def words(recogniser: Recogniser, texts: Sequence[str]) -> str:
    """Words wrong of texts, each said once."""
    heard = [plain(transcript(recogniser, spoken(t, n))) for n, t in enumerate(texts)]
    wrong = jiwer.process_words([plain(text) for text in texts], heard)
    errors = wrong.substitutions + wrong.deletions + wrong.insertions
    said = sum(len(plain(text).split()) for text in texts)
    return f"{100 * errors / said:.1f} % of {said} words wrong"


def noises(minutes: float) -> Iterator[Pcm]:
    """Stretches in which nobody speaks: hiss, hum, a band's chords, a tune, coughs and knocks."""
    rng = np.random.default_rng(5)
    bursts = people.noises()
    at = np.arange(round(NOISE_S * RATE)) / RATE
    for number in range(round(60 * minutes / NOISE_S)):
        match number % 5:
            case 0:
                pcm = rng.standard_normal(len(at))
            case 1:
                pcm = signal.lfilter([1], [1, -0.98], rng.standard_normal(len(at)))
            case 2:  # chords
                roots = 110 * 2 ** (rng.integers(0, 12, 10) / 12)
                root = roots[np.minimum((at).astype(int), 9)]
                tones = [np.sin(2 * np.pi * np.cumsum(root * k) / RATE) for k in (1, 1.26, 1.5, 2)]
                pcm = np.sum(tones, axis=0)
            case 3:  # a tune with overtones and vibrato
                notes = 220 * 2 ** (rng.integers(0, 24, 40) / 12)
                pitch = notes[np.minimum((at * 4).astype(int), 39)]
                pitch = pitch * (1 + 0.01 * np.sin(2 * np.pi * 5 * at))
                phase = 2 * np.pi * np.cumsum(pitch) / RATE
                pcm = np.sum([np.sin(k * phase) / k for k in range(1, 8)], axis=0)
            case _:
                pcm = np.zeros(len(at))
                for start in range(0, len(at) - 2 * RATE, 2 * RATE):
                    burst = bursts[int(rng.integers(len(bursts)))].pcm[: 2 * RATE]
                    pcm[start : start + len(burst)] += burst
        yield at_level(pcm.astype(np.float32))


def invented(recogniser: Recogniser, minutes: float) -> str:
    found = [text for pcm in noises(minutes) if (text := transcript(recogniser, pcm))]
    return f"{len(found)} texts in {minutes:g} min without speech: {found}"


def speed(recogniser: Recogniser) -> str:
    """Median and largest, of whole questions, in a conversation."""
    said = [spoken(text, number) for number, text in enumerate(QUESTIONS[:TIMED])]
    took = [
        hear(recogniser, pcm[: -round(MARGIN_S * RATE)], time.perf_counter).final_s for pcm in said
    ]
    return f"{1000 * np.median(took):.0f} ms after the end (at most {1000 * max(took):.0f})"


def _print(*cells: str) -> None:
    sys.stdout.write(" | ".join((*cells, f"load {os.getloadavg()[0]:.0f}")) + "\n")
    sys.stdout.flush()


def _speeds(settings: RecogniserSettings) -> None:
    """Whisper alone, by beams and threads."""
    for threads in (1, 2):
        model.MAX_THREADS = threads
        recogniser = whisper.load_whisper(resolve(settings))
        for beams in (1, 2, 5):
            whisper.FINAL_BEAMS = beams
            _print(f"whisper alone, {threads} threads, {beams} beams", speed(recogniser))
        recogniser.close()


WHAT = ("words", "speed", "noise")


def main() -> None:
    parser = argparse.ArgumentParser(description="How well and how soon the recognisers hear.")
    parser.add_argument("--what", nargs="+", choices=WHAT, default=WHAT)
    parser.add_argument("--recognisers", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--minutes", type=float, default=10.0, help="of noise")
    given = parser.parse_args()
    if flite.missing_programs():
        sys.exit("This needs flite.")
    for name in given.recognisers:
        recogniser = load(RecogniserSettings(name), standard_factories().phrases())
        if "words" in given.what:
            _print(name, "open questions", words(recogniser, QUESTIONS))
            _print(name, "skills' sentences", words(recogniser, REQUESTS.complete))
        if "speed" in given.what:
            _print(name, speed(recogniser))
        if "noise" in given.what:
            _print(name, invented(recogniser, given.minutes))
        recogniser.close()
    if "speed" in given.what and "whisper" in given.recognisers:
        _speeds(RecogniserSettings("whisper"))


if __name__ == "__main__":
    main()
