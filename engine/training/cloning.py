"""Whether a cloned voice is its speaker's: judged by an encoder that took no part in training.

Invariant: the speakers are held out, and the judge is Resemblyzer, or the row says it was missing.
"""

import random
from collections.abc import Callable
from importlib.util import find_spec
from typing import Final

import numpy as np
import numpy.typing as npt
import soxr

from engine.errors import UnreadableClip
from engine.training.performance import say
from engine.training.run import Run
from engine.training.speaker import rate_where_equal
from engine.training.speech import Spoken, read_speech
from engine.training.texts import read_texts
from engine.training.utterance import SAMPLE_RATE
from engine.tts.base import Pcm, TtsModel

NAME: Final = "cloning of unseen virtual speakers"
TARGET: Final = "equal error rate <= 10 %, nearer to its own than to any other"
UNMEASURED: Final = "not measured here (pip install resemblyzer)"
PROMPT_SECONDS: Final = 6.0
_RATE: Final = 16_000

Embed = Callable[[Pcm, int], npt.NDArray[np.floating]]


def row(run: Run, model: TtsModel) -> tuple[str, str, str, str]:
    """Name, target, this voice, sources."""
    if find_spec("resemblyzer") is None:
        return (NAME, TARGET, UNMEASURED, "")
    return (NAME, TARGET, measured(run, model, _judge()), "")


def measured(run: Run, model: TtsModel, embed: Embed) -> str:
    """Equal error rate of clones against real speech of held-out speakers, and the similarities."""
    people = _people(run)
    texts = read_texts(run).test
    clones, real = [], []
    for number, said in enumerate(people):
        prompt, other = _halves(said)
        try:
            voice = model.encode_voice(prompt, SAMPLE_RATE)
        except UnreadableClip:
            continue
        spoken = say(model, voice, texts[number % len(texts)], (4.0,))
        clones.append(embed(spoken.pcm, spoken.sample_rate))
        real.append(embed(other, SAMPLE_RATE))
    if len(clones) < 2:
        return "fewer than two held-out speakers could be cloned"
    cosines = _cosines(np.stack(clones), np.stack(real))
    own = np.eye(len(cosines), dtype=bool)
    error = rate_where_equal(cosines[own], cosines[~own])
    nearest = float((cosines.argmax(axis=1) == np.arange(len(cosines))).mean())
    return (
        f"{error:.0%} of {len(clones)}; cosine to own {cosines[own].mean():.2f}, "
        f"to others {cosines[~own].mean():.2f}; nearest is own {nearest:.0%}"
    )


def _people(run: Run) -> list[list[Spoken]]:
    by_speaker: dict[int, list[Spoken]] = {}
    for spoken in read_speech(run, run.recipe.codec.hours).held_out:
        by_speaker.setdefault(spoken.entry.speaker, []).append(spoken)
    people = [said for said in by_speaker.values() if len(said) >= 2]
    random.Random(0).shuffle(people)
    return people[: run.recipe.evaluate.clones]


def _halves(said: list[Spoken]) -> tuple[Pcm, Pcm]:
    """A prompt, and other speech of the same speaker."""
    middle = len(said) // 2
    longest = int(PROMPT_SECONDS * SAMPLE_RATE)
    parts = (said[:middle], said[middle:])
    first, second = (
        np.concatenate([s.pcm for s in part]).astype(np.float32) / 32768 for part in parts
    )
    return first[:longest].astype(np.float32), second[:longest].astype(np.float32)


def _cosines(
    one: npt.NDArray[np.floating], other: npt.NDArray[np.floating]
) -> npt.NDArray[np.floating]:
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (one, other)]
    product: npt.NDArray[np.floating] = unit[0] @ unit[1].T
    return product


def _judge() -> Embed:
    from resemblyzer import VoiceEncoder, preprocess_wav  # loads its network

    encoder = VoiceEncoder("cpu", verbose=False)

    def embed(pcm: Pcm, sample_rate: int) -> npt.NDArray[np.floating]:
        heard = soxr.resample(pcm, sample_rate, _RATE)
        found: npt.NDArray[np.floating] = encoder.embed_utterance(preprocess_wav(heard, _RATE))
        return found

    return embed
