"""Whether a cloned voice sounds like its speaker, judged by an encoder that took no part in
training.

Invariant: the speakers are held out, and the judge is Resemblyzer (an extra of training that brings
its weights along); without it nothing is measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from engine.audio.clips.clip import read_clip
from engine.errors import UnreadableClip
from engine.training.corpus.shards import read_shards
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.evaluation.performance import OWN_RATE, say
from engine.training.evaluation.talkers import Talker, loaded
from engine.training.voice.speaker import rate_where_equal
from engine.tts.base import Pcm

PROMPT_SECONDS: Final = 6.0
LONGEST_SECONDS: Final = 60.0  # used of one recording of a person
_PROMPT_SAMPLES: Final = int(PROMPT_SECONDS * SAMPLE_RATE)
_RATE: Final = 16_000

Vectors = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Likened:
    """A real person's clone. Cosines with other speech of the person: the clone's, the prompt's,
    and that of the pack's named voice that is most similar to the person.
    """

    name: str
    clone: float
    prompt: float
    nearest: float


@dataclass(frozen=True)
class Likeness:
    """How similar clones are to their speakers. Cosines, one for every clone."""

    equal_error: float
    to_own: tuple[float, ...]
    of_starter: tuple[float, ...]  # of the speaker and the most similar named voice
    to_starter: tuple[float, ...]  # of the clone and the named voice most similar to it

    @property
    def best(self) -> float:
        """Share of speakers whose clone is closer to them than any named voice."""
        return self._above(self.of_starter)

    @property
    def nearer(self) -> float:
        """Share of clones that are closer to their own speaker than to any named voice."""
        return self._above(self.to_starter)

    def _above(self, others: tuple[float, ...]) -> float:
        return float(np.mean([own > other for own, other in zip(self.to_own, others, strict=True)]))


def available() -> bool:
    """Whether the judge is installed."""
    return find_spec("resemblyzer") is not None


def clone(pack: str, corpus: str, speaker: int, texts: tuple[str, ...]) -> dict[str, Any]:
    """A part: vectors of a held-out speaker's prompt, of their other speech, and of the speech of
    the voice cloned from the prompt. Empty when there is too little speech of the speaker.
    """
    return _cloned(pack, _speech(Path(corpus), speaker), texts)


def clone_person(pack: str, pattern: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """The same for a real person, whose recordings in a folder match a pattern."""
    files = sorted(Path(pattern).parent.glob(Path(pattern).name))
    parts = [read_clip(file, max_seconds=LONGEST_SECONDS) for file in files]
    samples = [soxr.resample(part.pcm, part.sample_rate, SAMPLE_RATE) for part in parts]
    return _cloned(pack, _halves(samples), texts)


def named(talker: Talker, texts: tuple[str, ...]) -> dict[str, Any]:
    """A part: the vector of a named voice's speech."""
    sentences = talker.speak(texts, (OWN_RATE,))
    pcm = np.concatenate([each.pcm for each in sentences])
    return {"vector": _embedded(pcm, sentences[0].sample_rate)}


def likeness(
    clones: Sequence[dict[str, Any]], starters: Sequence[dict[str, Any]], key: str = "clone"
) -> Likeness | None:
    """Clones (or with `key` "prompt" the speakers themselves) against other speech of all held-out
    speakers. None for fewer than two.
    """
    results = [each for each in clones if each]
    if len(results) < 2 or not starters:
        return None
    ours = _unit([each[key] for each in results])
    theirs = _unit([each["other"] for each in results])
    named = _unit([each["vector"] for each in starters])
    cosines = ours @ theirs.T
    own = np.eye(len(cosines), dtype=bool)
    return Likeness(
        float(rate_where_equal(cosines[own], cosines[~own])),
        tuple(cosines[own].tolist()),
        tuple((theirs @ named.T).max(axis=1).tolist()),
        tuple((ours @ named.T).max(axis=1).tolist()),
    )


def likened(
    name: str, result: dict[str, Any], starters: Sequence[dict[str, Any]]
) -> Likened | None:
    """How similar a person's clone is to them; None when it could not be made."""
    if not result or not starters:
        return None
    rows = [result["clone"], result["prompt"], *(each["vector"] for each in starters)]
    clone, prompt, *others = (_unit(rows) @ _unit([result["other"]])[0]).tolist()
    return Likened(name, clone, prompt, max(others))


def _speech(corpus: Path, speaker: int) -> tuple[Pcm, Pcm] | None:
    """A prompt, and other speech of the same speaker; None when there is not enough."""
    parts: list[Pcm] = []
    for shard in read_shards(corpus):
        for entry in shard.entries:
            if entry.speaker == speaker and sum(map(len, parts)) < 2 * _PROMPT_SAMPLES:
                pcm, _ = soundfile.read(
                    shard.sound, entry.length, start=entry.offset, dtype="float32"
                )
                parts.append(pcm)
    return _halves(parts)


def _halves(parts: Sequence[Pcm]) -> tuple[Pcm, Pcm] | None:
    """A prompt and as much other speech; None when both together are shorter than a prompt."""
    pcm = np.concatenate(parts or [np.zeros(0, np.float32)])
    middle = min(len(pcm) // 2, _PROMPT_SAMPLES)
    if 2 * middle < _PROMPT_SAMPLES:
        return None
    return pcm[:middle], pcm[middle : 2 * middle]


def _cloned(pack: str, samples: tuple[Pcm, Pcm] | None, texts: tuple[str, ...]) -> dict[str, Any]:
    """Vectors of a prompt, of other speech, and of the speech of the voice cloned from the
    prompt."""
    if samples is None:
        return {}
    prompt, other = samples
    try:
        voice = loaded(pack).encode_voice(prompt, SAMPLE_RATE)
    except UnreadableClip:
        return {}
    sentences = [say(loaded(pack), voice, text, (OWN_RATE,)) for text in texts]
    pcm = np.concatenate([each.pcm for each in sentences])
    return {
        "clone": _embedded(pcm, sentences[0].sample_rate),
        "prompt": _embedded(prompt, SAMPLE_RATE),
        "other": _embedded(other, SAMPLE_RATE),
    }


def _unit(vectors: Sequence[Sequence[float]]) -> Vectors:
    matrix = np.asarray(vectors, np.float64)
    unit: Vectors = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit


def _embedded(pcm: Pcm, sample_rate: int) -> list[float]:
    from resemblyzer import preprocess_wav

    samples = soxr.resample(pcm, sample_rate, _RATE)
    vector: list[float] = _judge().embed_utterance(preprocess_wav(samples, _RATE)).tolist()
    return vector


@lru_cache(maxsize=1)
def _judge() -> Any:
    from resemblyzer import VoiceEncoder  # loads its network

    return VoiceEncoder("cpu", verbose=False)
