"""Speech to try a wake phrase with: calls by many voices, and hours of other talk.

Invariant: all of it is synthetic, drawn with fixed seeds, and spoken once: it is kept as FLAC in
the folder for it. What is `tuned` on shares no voice of the calls, no speaker and no prose sentence
with what is tested.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import soundfile
import soxr

from engine.audio.base import Pcm
from engine.training.corpus import grammar
from engine.training.corpus.speakers import BASES, Base, Speaker
from engine.training.corpus.utterance import SAMPLE_RATE, Plan, as_speaker
from engine.training.evaluation.voices import LiveVoice
from engine.training.teachers import synthesisers
from tests.simulation.room import RATE, at_level

CHUNK_S = 150.0  # of talk, by one person
SHARES = {"flite": 0.68, "espeak": 0.19, "starter": 0.1, "kokoro": 0.03}  # of the talk, by its cost
PAUSES_S = (0.15, 1.2)  # between two sentences
RATES = (3.2, 5.6)  # SPS
ENGLISH = {base.voice: base for base in BASES if base.synthesiser == "kokoro"}
CALL_RATES = (3.4, 4.4, 5.4)
STARTER = Path("resources/starter")
STARTER_VOICES = ("Anton", "Bruno", "Clara", "Dario", "Edda", "Fanny")
FLITE = ("rms", "slt", "awb")  # whose calls are tested; the others' are tuned on


@dataclass(frozen=True)
class Talker:
    """Who talks, and how fast (SPS). `voice` names one of the starter pack, "" = of none."""

    person: Speaker
    rate: float
    voice: str = ""

    def say(self, text: str) -> Pcm | None:
        """Samples at RATE and a person's level; None for what it cannot say."""
        spoken = self._spoken(text)
        if spoken is None or not len(spoken[0]) or not np.any(spoken[0]):
            return None
        pcm: Pcm = at_level(soxr.resample(spoken[0], spoken[1], RATE)).astype(np.float32)
        return pcm

    def _spoken(self, text: str) -> tuple[Pcm, int] | None:
        if self.voice:
            said = LiveVoice(str(STARTER), self.voice).speak([text], self.rate)[0]
            return said.pcm, said.sample_rate
        planned = Plan(text, self.person, self.rate)
        take = synthesisers.speak(self.person.base.synthesiser, planned.request())
        return None if take is None else (as_speaker(take, self.person), SAMPLE_RATE)


def phrase_calls(phrase: str, folder: Path, *, tuned: bool) -> list[Pcm]:
    """The phrase as each of the voices says it, alone."""
    calls = [
        _kept(folder / "calls" / f"{phrase} {name}.flac", partial(who.say, f"{phrase}."))
        for name, who in _callers(tuned=tuned)
    ]
    return [pcm for pcm in calls if len(pcm)]


def _callers(*, tuned: bool) -> Iterator[tuple[str, Talker]]:
    """Kokoro's English voices, every other one to tune with, each at three rates; and flite's."""
    for voice in sorted(ENGLISH)[0 if tuned else 1 :: 2]:
        for rate in CALL_RATES:
            yield f"{voice} {rate}", Talker(_moved(ENGLISH[voice], 1.0, 0.0), rate)
    for base in BASES:
        if base.synthesiser == "flite" and (base.voice not in FLITE) == tuned:
            for warp in (0.92, 1.0, 1.1):
                yield f"{base.voice} {warp}", Talker(_moved(base, warp, 0.0), base.sps)


def _moved(base: Base, warp: float, tilt_db: float) -> Speaker:
    return Speaker(0, base, warp, base.pitch_hz * warp, tilt_db, held_out=True)


@dataclass(frozen=True)
class Chunk:
    """CHUNK_S of talk by one person: number `number` of what one synthesiser says."""

    kind: str
    number: int
    tuned: bool

    @property
    def name(self) -> str:
        return f"{'tuned' if self.tuned else 'tested'} {self.kind} {self.number:03}"


def talk(hours: float, *, tuned: bool) -> list[Chunk]:
    """So many hours by all synthesisers in their shares, well mixed."""
    chunks = [
        Chunk(kind, number, tuned)
        for kind, share in SHARES.items()
        for number in range(round(hours * share * 3600 / CHUNK_S))
    ]
    random.Random(11).shuffle(chunks)
    return chunks


def sentences_of(chunk: Chunk, folder: Path) -> list[tuple[str, Pcm]]:
    """What is said in a chunk, sentence by sentence, with the pause after each."""
    sound = _kept(folder / "talk" / f"{chunk.name}.flac", lambda: _talk(chunk, folder))
    texts = json.loads((folder / "talk" / f"{chunk.name}.json").read_text(encoding="utf-8"))
    ends = np.cumsum([length for _, length in texts])
    parts = np.split(sound, ends[:-1])
    return [(text, part) for (text, _), part in zip(texts, parts, strict=True)]


def _talk(chunk: Chunk, folder: Path) -> Pcm:
    """Talk as it is kept; its words and their lengths are written beside it."""
    draw = random.Random(chunk.name)
    who, said, count = _drawn(chunk.kind, draw), [], 0
    texts: list[tuple[str, int]] = []
    while count < CHUNK_S * RATE:
        text = _sentence(draw, folder, tuned=chunk.tuned)
        pcm = who.say(text)
        if pcm is not None:
            pcm = np.concatenate((pcm, np.zeros(int(draw.uniform(*PAUSES_S) * RATE), np.float32)))
            texts.append((text, len(pcm)))
            said.append(pcm)
            count += len(pcm)
    words = folder / "talk" / f"{chunk.name}.json"
    words.parent.mkdir(parents=True, exist_ok=True)
    words.write_text(json.dumps(texts), encoding="utf-8")
    return np.concatenate(said)


def _drawn(kind: str, draw: random.Random) -> Talker:
    """Some person with a voice of this kind."""
    rate = draw.uniform(*RATES)
    if kind == "kokoro":
        return Talker(_moved(ENGLISH[draw.choice(sorted(ENGLISH))], 1.0, 0.0), rate)
    if kind == "starter":
        return Talker(_moved(BASES[0], 1.0, 0.0), rate, draw.choice(STARTER_VOICES))
    bases = [base for base in BASES if base.synthesiser == kind]
    base = draw.choices(bases, [base.share for base in bases])[0]
    return Talker(_moved(base, 2 ** draw.uniform(-0.2, 0.25), draw.uniform(-4, 4)), rate)


def _sentence(draw: random.Random, folder: Path, *, tuned: bool) -> str:
    """Half of them prose, every other one of which is kept to tune on."""
    if draw.random() < 0.5:
        return grammar.sentence("train", draw)
    return draw.choice(_prose(folder)[tuned::2])


@cache
def _prose(folder: Path) -> list[str]:
    """What this machine brings: another machine has other sentences."""
    file = folder / "prose.json"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(grammar.prose()), encoding="utf-8")
    sentences: list[str] = json.loads(file.read_text(encoding="utf-8"))
    return sentences


def _kept(file: Path, make: Callable[[], Pcm | None]) -> Pcm:
    """The sound of this file, made where it is missing; empty when it cannot be made."""
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        made = make()
        begun = file.with_suffix(".part")
        pcm = np.zeros(0, np.float32) if made is None else made
        soundfile.write(begun, np.clip(pcm, -1, 1), RATE, format="FLAC", subtype="PCM_16")
        begun.replace(file)
    read: Pcm = soundfile.read(file, dtype="float32")[0]
    return read
