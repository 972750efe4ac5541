"""What both sides of a comparison are given: prompt, text of phones, rates, and when words come.

A scenario runs freely: every frame continues what was drawn before it, so one other code or token
changes all that follow. Invariant: functions of seeds alone, of torch's random numbers on the
processor.
"""

import random
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.audio.pcm import brought_to
from engine.codec.mimi import FRAME_SAMPLES, SAMPLE_RATE, Mimi
from engine.nn.packed.product_graph import Precision
from engine.text.phonemes import PhonedWord
from engine.tts.base import AudioFrame, Pcm
from engine.tts.phones import MARKS, PhoneTable
from engine.tts.voxtream.config import EDITIONS, ModelConfig
from engine.tts.voxtream.files.checkpoint import Target, load_weights
from engine.tts.voxtream.files.paths import VOXTREAM2_1
from engine.tts.voxtream.network.frames import EagerFrames, PromptState, prepare
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.session import VoxtreamParts, VoxtreamSession
from tests.engine.tts.voxtream.random_weights import RandomWeights

EDITION = EDITIONS[VOXTREAM2_1]
FRAMES, SEED, PROMPT_S = 60, 5, 1.6
KEPT = (0, 20, 40, 59)  # frames whose logits are kept
LOGIT_STRIDE = 1537
PHONES = 117  # ids of sounds
PARTS, FRAME_PART = 16, FRAME_SAMPLES // 16  # of a frame: a code for each
CODES = 50_000  # of a full-scale sound, before they are wrapped


@dataclass(frozen=True)
class Scenario:
    """`rates`: SPS from a frame on; none = its own pace. `by_word`: one word before every frame, or
    all of them before the first.
    """

    by_word: bool = False
    rates: Mapping[int, float] = field(default_factory=dict)

    def rate(self, frame: int) -> float | None:
        begun = [at for at in self.rates if at <= frame]
        return self.rates[max(begun)] if begun else None


SCENARIOS = {
    "word by word": Scenario(by_word=True),
    "slow": Scenario(rates={0: 1.7}),
    "middle": Scenario(rates={0: 4.0}),
    "fast": Scenario(rates={0: 6.6}),
    "turned twice, word by word": Scenario(by_word=True, rates={0: 3.0, 20: 6.3, 40: 1.5}),
}
# Of 462 million weights, where a frame takes seconds: the three rates, and what holds all else.
OF_SIZE = {
    "small": tuple(SCENARIOS),
    "full": ("slow", "middle", "fast", "turned twice, word by word"),
}


@dataclass(frozen=True)
class Frame:
    """What was drawn; `acoustic` is a checksum of the codes behind the first."""

    token: int
    semantic: int
    acoustic: int


def frame_of(token: Any, codes: Tensor) -> Frame:
    """`codes` [1, K]."""
    first, *rest = codes.flatten().tolist()
    return Frame(int(token), first, zlib.crc32(repr(rest).encode()))


def words() -> list[PhonedWord]:
    """More phones than the frames can speak, every fifth word with a mark."""
    draw = random.Random(21)
    return [
        PhonedWord(
            tuple(str(draw.randrange(PHONES)) for _ in range(draw.randrange(2, 5))),
            draw.choice(list(MARKS)) if number % 5 == 4 else "",
        )
        for number in range(100)
    ]


def recording() -> Pcm:
    """A sound for a prompt, with pauses, far too quiet."""
    count = round(PROMPT_S * SAMPLE_RATE)
    noise = np.random.default_rng(3).standard_normal(count) * 0.01
    return (noise * (np.arange(count) // 4000 % 3 > 0)).astype(np.float32)


def speaker(width: int) -> Tensor:
    """A vector of length 1."""
    vector = torch.randn(width, generator=torch.Generator().manual_seed(11))
    return torch.nn.functional.normalize(vector, dim=0)


def encoded(pcm: Pcm, codebooks: int) -> Tensor:
    """Codes [K, T] that follow the sound, in place of a codec's: one with random weights gives the
    same code to every sound.
    """
    parts = np.abs(pcm[: len(pcm) // FRAME_SAMPLES * FRAME_SAMPLES]).reshape(-1, PARTS, FRAME_PART)
    codes = (parts.mean(axis=2, dtype=np.float64).T[:codebooks] * CODES).astype(np.int64)
    return torch.from_numpy(codes % 2048)


# ---------------------------------------------------------------------------- ours


class Ours:
    """Our model with the weights, and its prompt."""

    def __init__(
        self, weights: RandomWeights, shape: ModelConfig, mimi: Mimi, device: str = "cpu"
    ) -> None:
        generation = replace(EDITION.generation, passage_frames=999_999)
        target = Target(torch.device(device), torch.float32, threads=1)
        self.model = load_weights(weights, shape, generation, Precision.FLOAT, target)
        table = PhoneTable({str(number): number for number in range(PHONES)})
        assert EDITION.loudness is not None
        louder = brought_to(recording(), SAMPLE_RATE, EDITION.loudness)
        self.codes = encoded(louder, shape.codebooks)
        self.prompt = prepare(self.model, self.codes, speaker(shape.speaker_width))
        self.mimi = mimi
        self.parts = VoxtreamParts(generation, self.model, mimi, table, Words(), EDITION.rates)  # type: ignore[arg-type]

    def run(self, scenario: Scenario, frames: int = FRAMES) -> tuple[list[Frame], list[Tensor]]:
        """Frames drawn, and the logits [N V] of every frame."""
        session = Traced(self.parts, self.prompt, self._frames, SEED)
        session.by_word = scenario.by_word
        log = _Log(self.model)
        try:
            for number in range(len(words())):
                session.push_word(str(number))
            session.end_input()
            while len(log.frames) < frames:
                # The first step draws two frames.
                session.rate = scenario.rate(len(log.frames))
                assert isinstance(session.step(), AudioFrame)
        finally:
            log.close()
        return log.frames[:frames], log.logits[:frames]

    def _frames(self) -> EagerFrames:
        return RemadeFrames(self.prompt, self.mimi)


class RemadeFrames(EagerFrames):
    """Makes the acoustic codes of the prompt's last frame, which are known, again, as the released
    loop does.
    """

    def first(self, opened: PromptState, controls: Tensor) -> int:
        token = super().first(opened, controls)
        prompt, semantic = self.prompt, self._codes[:, :1]
        acoustic = self._acoustic(opened.hidden + prompt.speaker, semantic, controls)
        self._codes = torch.cat((semantic, acoustic), dim=1)
        return token


class Words:
    """Stands in for espeak: the words are made of ids."""

    english = False


class Numbered:
    """A phonemiser of words that are numbers of words()."""

    def __init__(self) -> None:
        self._words = words()

    def push(self, text: str) -> list[PhonedWord]:
        return [self._words[int(text)]]

    def finish(self) -> list[PhonedWord]:
        return []


class Traced(VoxtreamSession):
    """Takes words up as the reference does: by word one before every frame, and more while it has
    fewer than three phones; otherwise all before the first.
    """

    by_word = False

    def _begin_passage(self, first_word: int) -> None:
        super()._begin_passage(first_word)
        self._phonemizer = Numbered()  # type: ignore[assignment]

    def _read_ahead(self) -> bool:
        if self._span is not None:  # the first frame's word has begun the passage
            self._hear_next()
        while not self.by_word and self._words:
            self._hear_next()
        while self._script.phone_count - self._cursor.last < EDITION.generation.min_look_ahead:
            self._hear_next()
        if not self.by_word and not self._script.closed:
            self._script.close()
        return True


class _Log:
    """Notes what a model draws, until it is closed."""

    def __init__(self, model: VoxtreamModel) -> None:
        self.frames: list[Frame] = []
        self.logits: list[Tensor] = []
        self._model, self._choice = model, None
        genuine = model.choose, model.acoustic_codes

        def choose(hidden: Tensor, controls: Any) -> Any:
            self.logits.append(model.joint_logits(hidden)[0].flatten().clone())
            self._choice = genuine[0](hidden, controls)
            return self._choice

        def acoustic_codes(hidden: Tensor, semantic: Tensor, *rest: Any) -> Tensor:
            codes = genuine[1](hidden, semantic, *rest)
            assert self._choice is not None
            self.frames.append(frame_of(self._choice.token, torch.cat((semantic, codes), dim=1)))
            return codes

        model.choose, model.acoustic_codes = choose, acoustic_codes  # type: ignore[method-assign]

    def close(self) -> None:
        del self._model.choose, self._model.acoustic_codes
