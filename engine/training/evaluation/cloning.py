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
import soxr

from engine.errors import UnreadableClip
from engine.training.corpus.shards import read_shards
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.evaluation.performance import OWN_RATE, Spoken, say
from engine.training.evaluation.voices import LiveVoice, loaded
from engine.training.tasks import Result
from engine.training.voice.speaker import rate_where_equal
from engine.tts.base import Pcm

_PROMPT_SAMPLES: Final = 6 * SAMPLE_RATE
_RATE: Final = 16_000


@dataclass(frozen=True)
class Likeness:
    """How similar clones are to their speakers. Cosines, one for every clone."""

    equal_error: float
    to_own: tuple[float, ...]
    of_named: tuple[float, ...]  # of the speaker and the most similar named voice

    @property
    def best(self) -> float:
        """Share of speakers whose clone is closer to them than any named voice."""
        return float(np.mean(np.asarray(self.to_own) > self.of_named))


def available() -> bool:
    """Whether the judge is installed."""
    return find_spec("resemblyzer") is not None


def clone(pack: str, corpus: str, speaker: int, texts: tuple[str, ...]) -> Result:
    """A task: vectors of a held-out speaker's speech, and of the speech of the voice cloned from
    other speech of theirs. Empty when there is too little speech of the speaker.
    """
    pcm = _speech(Path(corpus), speaker)
    middle = min(len(pcm) // 2, _PROMPT_SAMPLES)
    if 2 * middle < _PROMPT_SAMPLES:
        return {}
    try:
        voice = loaded(pack).encode_voice(pcm[:middle], SAMPLE_RATE)
    except UnreadableClip:
        return {}
    said = [say(loaded(pack), voice, text, OWN_RATE) for text in texts]
    return {"clone": _of_all(said), "other": _embedded(pcm[middle : 2 * middle], SAMPLE_RATE)}


def named(voice: LiveVoice, texts: tuple[str, ...]) -> Result:
    """A task: the vector of a named voice's speech."""
    return {"vector": _of_all(voice.speak(texts, OWN_RATE))}


def likeness(found: Sequence[Result]) -> Likeness | None:
    """Clones against other speech of all held-out speakers, from what the tasks found. None for
    fewer than two, or without named voices.
    """
    clones = [each for each in found if "clone" in each]
    vectors = [each["vector"] for each in found if "vector" in each]
    if len(clones) < 2 or not vectors:
        return None
    ours, theirs, others = (
        np.asarray(rows) / np.linalg.norm(rows, axis=1, keepdims=True)
        for rows in ([c["clone"] for c in clones], [c["other"] for c in clones], vectors)
    )
    cosines = ours @ theirs.T
    own = np.eye(len(cosines), dtype=bool)
    return Likeness(
        float(rate_where_equal(cosines[own], cosines[~own])),
        tuple(cosines[own].tolist()),
        tuple((theirs @ others.T).max(axis=1).tolist()),
    )


def _speech(corpus: Path, speaker: int) -> Pcm:
    """Speech of a speaker, as much as two prompts if there is."""
    parts: list[Pcm] = [np.zeros(0, np.float32)]
    for shard in read_shards(corpus):
        if sum(map(len, parts)) >= 2 * _PROMPT_SAMPLES:
            break
        parts += [pcm for entry, pcm in shard.spoken() if entry.speaker == speaker]
    return np.concatenate(parts)


def _of_all(said: Sequence[Spoken]) -> list[float]:
    return _embedded(np.concatenate([each.pcm for each in said]), said[0].sample_rate)


def _embedded(pcm: Pcm, sample_rate: int) -> list[float]:
    from resemblyzer import preprocess_wav

    samples = soxr.resample(pcm, sample_rate, _RATE)
    vector: list[float] = _judge().embed_utterance(preprocess_wav(samples, _RATE)).tolist()
    return vector


@lru_cache(maxsize=1)
def _judge() -> Any:
    from resemblyzer import VoiceEncoder  # loads its network

    return VoiceEncoder("cpu", verbose=False)
