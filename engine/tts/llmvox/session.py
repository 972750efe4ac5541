"""One utterance of LLMVoX: a text unit in, a token of speech out. Every sentence starts anew, and
sentences go to the network's replicas in turn (3.4, Algorithm 1).

While a sentence may get more words, each unit gives one token. Once its text is complete, tokens
follow until the network predicts the end. Filler units in place of late words would bring sound
earlier, but then the samples would depend on when the words came.

The replicas of the paper run in parallel. Here the replica of the next sentence takes a step after
each step of the front one, once the front sentence has begun to sound, until its first chunk is
complete. Invariant: a replica's tokens depend on its units alone, not on the order of the steps.
All state is here; closing the session frees it, and no other session sees it.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from engine.codec.small_parts import SAMPLE_RATE
from engine.nn.sampling import race_noise
from engine.tts.llmvox.config import NOTHING, TEXT_END, LlmVoxGeneration
from engine.tts.llmvox.model import Prediction
from engine.tts.llmvox.units import UnitReader
from engine.tts.papers.session import NetworkSession


class Replica(Protocol):
    """The network with the state of one sentence."""

    @property
    def length(self) -> int:
        """The number of positions of the sentence so far."""
        ...

    def predict(self, unit: int, before: int) -> Prediction:
        """Return the predictions after this unit and the token before it."""
        ...

    def say(self, token: int, predicted: Prediction) -> int:
        """Append the chosen token. Return the number of words that begin with it."""
        ...

    def restart(self) -> None:
        """Discard the sentence."""
        ...


@dataclass
class Lane:
    """A replica with its queue of units and its tokens, one sentence at a time."""

    replica: Replica
    chunk: int  # tokens that are decoded together next
    before: int  # the last token; at first SessionParts.no_token
    units: deque[int] = field(default_factory=deque)  # not yet heard
    # Words without an onset yet, and whether they sound.
    words: deque[tuple[int, bool]] = field(default_factory=deque)
    tokens: list[int] = field(default_factory=list)  # not yet decoded
    onsets: deque[tuple[int, int]] = field(default_factory=deque)  # word, token of the sentence
    heard: int = 0  # units
    repeats: int = 0
    closed: bool = False  # whether the sentence's text is over
    ended: bool = False  # whether its speech is over

    @property
    def ready(self) -> bool:
        """True if the replica can take a step."""
        return not self.ended and (bool(self.units) or self.closed)

    def next_unit(self) -> int:
        """Return the next unit; after the last one TEXT_END, then always NOTHING."""
        if self.units:
            self.heard += 1
            return self.units.popleft()
        return TEXT_END if self.replica.length == self.heard else NOTHING

    def begin_word(self, token: int) -> None:
        """Let the next word with a sound, and silent ones before it, begin at this token of the
        sentence.
        """
        sounds = False
        while self.words and not sounds:
            word, sounds = self.words.popleft()
            self.onsets.append((word, token))


@dataclass(frozen=True)
class SessionParts:
    """What a session is made of. `decode` makes the samples of the next tokens; `no_token` stands
    in place of the token before a sentence's first one. A sentence has at most `most_tokens`.
    """

    generation: LlmVoxGeneration
    reader: UnitReader
    replicas: Sequence[Replica]
    decode: Callable[[list[int]], Tensor]
    no_token: int
    token_samples: int
    dice: torch.Generator
    most_tokens: int | None = None  # None = only generation limits them


class ReplicaSession(NetworkSession):
    """Base of LLMVoX's sessions, without control of the rate."""

    def __init__(self, parts: SessionParts) -> None:
        super().__init__(SAMPLE_RATE)
        self._parts = parts
        first = parts.generation.first_chunk
        self._lanes = [Lane(replica, first, parts.no_token) for replica in parts.replicas]
        self._front = 0  # the lane that is heard
        self._filled = 0  # the lane that gets the next word
        self._count = 0  # words whose units are known
        self._begin = 0  # sample of the sentence that is heard

    def _make(self) -> bool:
        lane = self._lanes[self._front]
        if len(lane.tokens) >= lane.chunk:
            self._decode_chunk(lane)
        elif lane.ended:
            self._end_sentence(lane)
        elif lane.ready:
            self._advance(lane)
            self._advance_behind(lane)
        else:
            return False
        return True

    def _end(self) -> None:
        for word, _ in self._lanes[self._filled].words:  # the last ones, without a sound
            self._begin_word(word)
        super()._end()

    # ------------------------------------------------------------------------ text

    def _hear(self, word: str | None) -> None:
        reader = self._parts.reader
        for each in reader.finish() if word is None else reader.push(word):
            lane = self._lanes[self._filled]
            lane.units += each.units
            lane.words.append((self._count, bool(each.units)))
            self._count += 1
            if each.closes:
                self._close()
        if word is None:
            self._close()

    def _close(self) -> None:
        """End the text of a sentence. A sentence without a sound is joined to the next one."""
        lane = self._lanes[self._filled]
        if lane.heard or lane.units:
            lane.closed = True
            self._filled = (self._filled + 1) % len(self._lanes)

    # ---------------------------------------------------------------------- tokens

    def _advance_behind(self, front: Lane) -> None:
        """Let the replica of the next sentence take a step, too, if the front one
        already sounds.
        """
        behind = self._lanes[(self._front + 1) % len(self._lanes)]
        if behind is front or not front.closed or self._made == self._begin:
            return
        if not behind.ready and not behind.ended:
            self._hear_next()
        if behind.ready and len(behind.tokens) < behind.chunk:
            self._advance(behind)

    def _advance(self, lane: Lane) -> None:
        """Read one unit and predict one token with a lane's replica."""
        parts = self._parts
        text_over = lane.closed and not lane.units
        prediction = lane.replica.predict(lane.next_unit(), lane.before)
        token = self._chosen(lane, prediction.tokens, may_end=text_over)
        place = lane.replica.length - 1
        longest = parts.generation.longest_unit * lane.heard
        most = longest if parts.most_tokens is None else min(longest, parts.most_tokens)
        if token == parts.no_token or place >= most:
            lane.ended = True
            return
        for _ in range(lane.replica.say(token, prediction)):
            lane.begin_word(place)
        lane.repeats = lane.repeats + 1 if token == lane.before else 0
        lane.before = token
        lane.tokens.append(token)

    def _chosen(self, lane: Lane, logits: Tensor, *, may_end: bool) -> int:
        """Choose a token, or the end if it may come. A token is not repeated endlessly."""
        generation = self._parts.generation
        if not may_end:
            logits = logits[:-1]
        if lane.repeats >= generation.most_repeats:
            logits[lane.before] = float("-inf")
        if generation.temperature:
            chances = (logits / generation.temperature).softmax(-1)
            logits = chances / race_noise(len(chances), self._parts.dice)[0]
        return int(logits.argmax())  # the step's only sync

    # ----------------------------------------------------------------------- sound

    def _decode_chunk(self, lane: Lane) -> None:
        """Append the samples of the next tokens. The decoder may hold back the last ones."""
        generation = self._parts.generation
        tokens, lane.tokens = lane.tokens[: lane.chunk], lane.tokens[lane.chunk :]
        lane.chunk = min(generation.largest_chunk, lane.chunk * generation.growth)
        self._append_speech(lane, self._decoded(tokens))

    def _end_sentence(self, lane: Lane) -> None:
        """Append the rest of a sentence and go on to the next one. The replica starts anew."""
        tokens, lane.tokens = lane.tokens, []
        pcm = torch.cat((self._decoded(tokens), self._rest()))
        while len(pcm) and lane.words:  # the network missed where they begin
            lane.begin_word(lane.replica.length - 2)
        self._append_speech(lane, pcm)
        lane.replica.restart()
        lane.before, lane.repeats = self._parts.no_token, 0
        lane.heard, lane.closed, lane.ended = 0, False, False
        self._front = (self._front + 1) % len(self._lanes)
        self._begin = self._made

    def _rest(self) -> Tensor:
        """Return the samples of a finished sentence that the decoder still holds back."""
        return torch.zeros(0)

    def _decoded(self, tokens: list[int]) -> Tensor:
        return self._parts.decode(tokens) if tokens else torch.zeros(0)

    def _append_speech(self, lane: Lane, samples: Tensor) -> None:
        """Append samples of the lane's sentence, with the words that have begun."""
        while lane.onsets:
            word, token = lane.onsets.popleft()
            self._begin_word(word, self._begin + token * self._parts.token_samples)
        self._append(samples.numpy())

    def close(self) -> None:
        super().close()
        for lane in self._lanes:
            lane.replica.restart()
