"""One utterance: a unit of the text in, a token of speech out; every sentence starts afresh.

As long as more words of a sentence may come, every unit gives one token. Once its text is
complete, tokens follow until the network predicts the end. Going on with filler units while words
are late would speak sooner, but then the samples would depend on when the words came.
Invariant: all state is here; closing the session frees it, and no other session sees it.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.audio.ending import Ending
from engine.codec.mel import COLUMN, COLUMN_RATE
from engine.codec.vocoder import Waves
from engine.nn.cache import KvCache
from engine.nn.sampling import race_noise
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.base import AudioFrame, Finished, Onset, Starved, Step
from engine.tts.llmvox.config import NOTHING, TEXT_END, TOKEN_SAMPLES, Generation
from engine.tts.llmvox.model import LlmVoxModel
from engine.tts.llmvox.units import reader
from engine.tts.phones import PhoneTable
from engine.tts.utterance import Utterance

_CPU: Final = torch.device("cpu")


@dataclass(frozen=True)
class Machine:
    """What all sessions of a model share and none may change."""

    generation: Generation
    model: LlmVoxModel
    vocoder: Waves
    table: PhoneTable
    espeak: Espeak
    rotary: RotaryTable


class LlmVoxSession(Utterance):
    """A TtsSession without control of the rate."""

    def __init__(self, machine: Machine, speaker: Tensor, seed: int) -> None:
        """`speaker`: the voice's vector [S]."""
        super().__init__()
        self._machine = machine
        self._speaker = speaker[None]
        self._reader = reader(machine.model.shape.units, machine.espeak, machine.table)
        self._reader_ended = False
        self._units: deque[int] = deque()  # of the sentence, not yet heard
        self._taken = 0  # words taken up
        self._heard_units = 0  # of the sentence
        self._closed = False  # whether its text is over
        self._cache = KvCache(machine.model.shape.stack, 1, _CPU, torch.float32)
        self._wave = machine.vocoder.open()
        self._ending = Ending(COLUMN * COLUMN_RATE)
        self._generator = torch.Generator().manual_seed(seed)
        self._before = machine.model.no_token
        self._repeats = 0
        self._chunk: list[int] = []  # tokens not yet decoded
        self._chunk_size = machine.generation.first_chunk
        self._waiting: deque[int] = deque()  # words taken up that have no onset yet
        self._onsets: list[Onset] = []  # that fall into the chunk

    @torch.inference_mode()
    def step(self) -> Step:
        while not self._finished:
            if not self._units and not self._closed:
                if not self._read():
                    return Starved()
                continue
            if not self._heard_units and not self._units:
                # Only words without a sound: they begin with the next sentence, if there is one.
                self._closed = False
                if self._reader_ended:
                    self._finished = True
                    if (last := self._last()) is not None:
                        return last
                continue
            frame = self._token()
            if frame is not None:
                return frame
        return Finished()

    def _read(self) -> bool:
        """Take up the next word or the end of the text; False when neither has come yet."""
        if self._words:
            ready = self._reader.push(self._words.popleft())
        elif self._ended:
            ready = self._reader.finish()
            self._reader_ended = True
        else:
            return False
        for word in ready:
            self._units += word.units
            self._waiting.append(self._taken)
            self._taken += 1
            self._closed = self._closed or word.closes
        self._closed = self._closed or self._reader_ended
        return True

    def _token(self) -> AudioFrame | None:
        """Read one unit and predict one token; a frame when a chunk is complete."""
        machine, model = self._machine, self._machine.model
        text_over = self._closed and not self._units
        unit = self._next_unit()
        keep = model.token.keep_masks((1, 1), machine.generation.dropout, self._generator)
        before = torch.tensor([[self._before]])
        x = model.enter(torch.tensor([[unit]]), before, self._speaker, keep)
        prediction = model.predict(model.step(x, machine.rotary, self._cache))
        token = self._chosen(prediction.tokens, may_end=text_over)
        longest = machine.generation.longest_unit * self._heard_units
        if token == model.no_token or self._cache.length > longest:
            return self._end_sentence()
        if float(prediction.onset) > 0 or self._cache.length == 1:
            self._begin_word(len(self._chunk))
        self._repeats = self._repeats + 1 if token == self._before else 0
        self._before = token
        self._chunk.append(token)
        if len(self._chunk) < self._chunk_size:
            return None
        generation = machine.generation
        self._chunk_size = min(generation.largest_chunk, self._chunk_size * generation.growth)
        return self._decoded()

    def _next_unit(self) -> int:
        """The sentence's next unit; behind the last one TEXT_END, then always NOTHING."""
        if self._units:
            self._heard_units += 1
            return self._units.popleft()
        return TEXT_END if self._cache.length == self._heard_units else NOTHING

    def _chosen(self, logits: Tensor, *, may_end: bool) -> int:
        """A label, but no end before the text ends, and no token repeated for ever."""
        generation = self._machine.generation
        if not may_end:
            logits = logits[:-1]
        if self._repeats >= generation.most_repeats:
            logits[self._before] = float("-inf")
        if generation.temperature:
            chances = (logits / generation.temperature).softmax(-1)
            logits = chances / race_noise(len(chances), self._generator)[0]
        return int(logits.argmax())

    def _end_sentence(self) -> AudioFrame | None:
        """Start afresh: empty cache, no previous token. A frame with what was said so far."""
        frame = None
        if self._chunk:
            while self._waiting:  # the network missed where they begin
                self._begin_word(len(self._chunk) - 1)
            frame = self._decoded()
        self._cache.restart()
        self._before, self._repeats = self._machine.model.no_token, 0
        self._chunk_size = self._machine.generation.first_chunk
        self._heard_units, self._closed = 0, self._reader_ended
        return frame

    def _begin_word(self, place: int) -> None:
        """The next word begins with this token of the chunk, estimated."""
        if self._waiting:
            sample = self._sample + TOKEN_SAMPLES * place
            self._onsets.append(Onset(self._waiting.popleft(), sample))

    def _decoded(self) -> AudioFrame:
        tokens = self._machine.model.codebook(torch.tensor(self._chunk))
        columns = torch.cat((tokens, self._speaker.expand(len(tokens), -1)), dim=1)
        self._chunk = []
        return self._frame(self._wave.decode(columns).clamp(-1, 1))

    def _last(self) -> AudioFrame | None:
        """The sound dies away, and the last words without a sound have their place; None when there
        was neither.
        """
        chunk = self._machine.generation.first_chunk * TOKEN_SAMPLES
        pcm = self._ending.sound(chunk if self._waiting else 0)
        while self._waiting:
            self._begin_word(0)
        return self._frame(torch.from_numpy(pcm)) if len(pcm) else None

    def _frame(self, pcm: Tensor) -> AudioFrame:
        self._ending.hear(pcm.numpy())
        onsets, self._onsets = tuple(self._onsets), []
        return self._packet(pcm.numpy(), onsets)

    def close(self) -> None:
        super().close()
        self._cache.restart()
