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

from abc import ABC, abstractmethod
from collections import deque
from math import inf

import torch
from torch import Tensor

from engine.codec.small_parts import SAMPLE_RATE
from engine.nn.sampling import race_noise
from engine.nn.transformer import KvCache
from engine.tts.llmvox.model import NOTHING, TEXT_END, LlmVoxGeneration
from engine.tts.llmvox.units import ByteUnits, PhoneUnits
from engine.tts.papers.session import NetworkSession


class Sentence(ABC):
    """A sentence and the network's state: the queue of its units, and its tokens."""

    def __init__(self, cache: KvCache, no_token: int, most_tokens: float = inf) -> None:
        """`no_token`: in place of the token before the first one; chosen, it means the end."""
        self._cache = cache
        self.no_token, self.most_tokens = no_token, most_tokens
        self.chunk = 1  # tokens that are decoded together next
        self.before = no_token  # the last token
        self.units: deque[int] = deque()  # not yet heard
        # Words without an onset yet, and whether they sound.
        self.words: deque[tuple[int, bool]] = deque()
        self.tokens: list[int] = []  # not yet decoded
        self.onsets: deque[tuple[int, int]] = deque()  # word, token of the sentence
        self.heard = 0  # units
        self.repeats = 0
        self.closed = False  # whether the sentence's text is over
        self.ended = False  # whether its speech is over

    @abstractmethod
    def predict(self, unit: int, before: int) -> Tensor:
        """Return the logits [tokens + 1] after this unit and the token before it."""

    @abstractmethod
    def say(self, token: int) -> int:
        """Append the chosen token. Return the number of words that begin with it."""

    @property
    def length(self) -> int:
        """The number of positions of the sentence so far."""
        return self._cache.length

    @property
    def ready(self) -> bool:
        """True if the network can take a step."""
        return not self.ended and (bool(self.units) or self.closed)

    def next_unit(self) -> int:
        """Return the next unit; after the last one TEXT_END, then always NOTHING."""
        if self.units:
            self.heard += 1
            return self.units.popleft()
        return TEXT_END if self.length == self.heard else NOTHING

    def begin_word(self, token: int) -> None:
        """Let the next word with a sound, and silent ones before it, begin at this token."""
        sounds = False
        while self.words and not sounds:
            word, sounds = self.words.popleft()
            self.onsets.append((word, token))


class SentenceSession(NetworkSession):
    """Base of LLMVoX's sessions, without control of the rate."""

    token_samples: int
    replicas = 1  # sentences at a time

    def __init__(
        self, generation: LlmVoxGeneration, reader: PhoneUnits | ByteUnits, dice: torch.Generator
    ) -> None:
        super().__init__(SAMPLE_RATE)
        self._generation, self._reader, self._dice = generation, reader, dice
        # The first one is heard.
        self._sentences = deque(self._fresh(generation.first_chunk) for _ in range(self.replicas))
        self._count = 0  # words whose units are known
        self._begin = 0  # sample of the sentence that is heard

    @abstractmethod
    def _open_sentence(self) -> Sentence:
        """Return a sentence without units."""

    @abstractmethod
    def _decode(self, tokens: list[int]) -> Tensor:
        """Return samples for a sentence's next tokens. The decoder may hold back the last ones."""

    @abstractmethod
    def _rest(self) -> Tensor:
        """Return the samples of a finished sentence that the decoder still holds back."""

    def _fresh(self, chunk: int) -> Sentence:
        sentence = self._open_sentence()
        sentence.chunk = chunk
        return sentence

    def _make(self) -> bool:
        front = self._sentences[0]
        if len(front.tokens) >= front.chunk:
            self._decode_chunk(front)
        elif front.ended:
            self._end_sentence(front)
        elif front.ready:
            self._advance(front)
            self._advance_behind(front)
        else:
            return False
        return True

    def _end(self) -> None:
        for word, _ in self._sentences[0].words:  # the last ones, without a sound
            self._begin_word(word)
        super()._end()

    # ------------------------------------------------------------------------ text

    def _hear(self, word: str | None) -> None:
        for each in self._reader.finish() if word is None else self._reader.push(word):
            sentence = self._open_text()
            sentence.units += each.units
            sentence.words.append((self._count, bool(each.units)))
            self._count += 1
            if each.closes:
                self._close()
        if word is None:
            self._close()

    def _open_text(self) -> Sentence:
        """Return the sentence that gets the next word."""
        return next((each for each in self._sentences if not each.closed), self._sentences[0])

    def _close(self) -> None:
        """End the text of a sentence. A sentence without a sound is joined to the next one."""
        sentence = self._open_text()
        if sentence.heard or sentence.units:
            sentence.closed = True

    # ---------------------------------------------------------------------- tokens

    def _advance_behind(self, front: Sentence) -> None:
        """Let the next sentence take a step, too, if the front one already sounds."""
        behind = self._sentences[-1]
        if behind is front or not front.closed or self._made == self._begin:
            return
        if not behind.ready and not behind.ended:
            self._hear_next()
        if behind.ready and len(behind.tokens) < behind.chunk:
            self._advance(behind)

    def _advance(self, sentence: Sentence) -> None:
        """Read one unit and predict one token."""
        text_over = sentence.closed and not sentence.units
        logits = sentence.predict(sentence.next_unit(), sentence.before)
        token = self._chosen(sentence, logits, may_end=text_over)
        place = sentence.length - 1
        longest = self._generation.longest_unit * sentence.heard
        if token == sentence.no_token or place >= min(longest, sentence.most_tokens):
            sentence.ended = True
            return
        for _ in range(sentence.say(token)):
            sentence.begin_word(place)
        sentence.repeats = sentence.repeats + 1 if token == sentence.before else 0
        sentence.before = token
        sentence.tokens.append(token)

    def _chosen(self, sentence: Sentence, logits: Tensor, *, may_end: bool) -> int:
        """Choose a token, or the end if it may come. A token is not repeated endlessly."""
        generation = self._generation
        if not may_end:
            logits = logits[:-1]
        if sentence.repeats >= generation.most_repeats:
            logits[sentence.before] = float("-inf")
        if generation.temperature:
            chances = (logits / generation.temperature).softmax(-1)
            logits = chances / race_noise(len(chances), self._dice)[0]
        return int(logits.argmax())  # the step's only sync

    # ----------------------------------------------------------------------- sound

    def _decode_chunk(self, front: Sentence) -> None:
        """Append the samples of the next tokens."""
        generation = self._generation
        tokens, front.tokens = front.tokens[: front.chunk], front.tokens[front.chunk :]
        front.chunk = min(generation.largest_chunk, front.chunk * generation.growth)
        self._append_speech(front, self._decode(tokens))

    def _end_sentence(self, front: Sentence) -> None:
        """Append the rest of a sentence and go on to the next one. The chunks of the sentence that
        its replica gets then go on where they were.
        """
        pcm = self._decode(front.tokens) if front.tokens else torch.zeros(0)
        pcm = torch.cat((pcm, self._rest()))
        while len(pcm) and front.words:  # the network missed where they begin
            front.begin_word(front.length - 2)
        self._append_speech(front, pcm)
        self._sentences.popleft()
        self._sentences.append(self._fresh(front.chunk))
        self._sentences[0].words.extendleft(reversed(front.words))  # no sample, no onset
        self._begin = self._made

    def _append_speech(self, front: Sentence, samples: Tensor) -> None:
        """Append samples of the front sentence, with the words that have begun."""
        while front.onsets:
            word, token = front.onsets.popleft()
            self._begin_word(word, self._begin + token * self.token_samples)
        self._append(samples.numpy())
