"""A voice prepared for one model: everything that depends on the voice alone, computed once.

The look-ahead of the phone transformer depends on the first words, so the state exists once for
each look-ahead, computed when first needed. Opening an utterance then costs a copy, and computing
the few prompt columns that see the text. Invariant: the state is never written to after it was
computed; sessions copy what they change.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.codec.mimi import Mimi, MimiStream
from engine.nn.transformer import KvCache
from engine.tts.phones import SPECIAL, SpecialPhones
from engine.tts.voxtream.config import ROWS
from engine.tts.voxtream.network.model import VoxtreamModel, delayed
from engine.tts.voxtream.network.phones import PhoneRows, extend


@dataclass(frozen=True)
class PromptState:
    """The state of an utterance after the prompt: its own temporal cache, and the last column's
    output.
    """

    cache: KvCache
    hidden: Tensor  # [B, D]


@dataclass
class PreparedPrompt:
    """A voice prepared for one model; all sessions share it."""

    model: VoxtreamModel
    tokens: Tensor  # [B, Q] ids of the prompt's phones
    places: Tensor  # [P, 2] the first and last of those that each column speaks
    columns: Tensor  # [B, K, P] codes with the acoustic delay
    speaker: Tensor  # [B, D] added to the depth transformer's first input
    last_acoustic: Tensor  # [1, K - 1] acoustic codes of the prompt's last frame
    heard: Tensor  # [1, K, N] codes of the prompt's last frames, decoded before an utterance
    _rows: dict[int, PhoneRows] = field(default_factory=dict)
    _caches: dict[int, KvCache] = field(default_factory=dict)
    _stream: MimiStream | None = None  # the codec's state behind them

    @property
    def length(self) -> int:
        """P, the number of prompt columns."""
        return self.columns.shape[2]

    @property
    def phones(self) -> int:
        """Q, the number of prompt phones."""
        return self.tokens.shape[1]

    @property
    def last_phone(self) -> int:
        """The index of the last phone of the last column."""
        return int(self.places[-1, 1])

    @property
    def room(self) -> int:
        """The number of frames that the temporal transformer's window holds after the prompt."""
        return self.model.config.audio_window - self.length

    def rows(self, look_ahead: int) -> PhoneRows:
        """Return the phone rows of the prompt for one look-ahead."""
        if look_ahead not in self._rows:
            model = self.model
            none = PhoneRows(look_ahead, model.config.phone_window)
            embedded = model.phone_embeddings(self.tokens)
            self._rows[look_ahead] = extend(none, embedded, model.phone)
        return self._rows[look_ahead]

    def cache(self, look_ahead: int) -> KvCache:
        """Return the temporal cache of the prompt columns that do not depend on the text."""
        if look_ahead not in self._caches:
            model, rows = self.model, self.rows(look_ahead)
            batch = len(self.columns)
            cache = KvCache(model.config.temporal, batch, model.device, model.dtype)
            final = rows.final(model.config.phone.layers)
            settled = int((self.places[:-1, 1] < final).sum())
            if settled:
                self._prefill(cache, rows, settled)
            self._caches[look_ahead] = cache
        return self._caches[look_ahead]

    def open(self, rows: PhoneRows) -> PromptState:
        """Return the temporal state after the prompt, given the phone rows of prompt and first
        text.
        """
        settled = self.cache(rows.look_ahead)
        cache = settled.copy(settled.length)
        return PromptState(cache, self._prefill(cache, rows, self.length))

    def sound_on(self, mimi: Mimi) -> MimiStream:
        """Return a stream of the codec that continues after the prompt's last frames, or after
        silence if there are none.
        """
        if not self.heard.shape[-1]:
            return mimi.open()
        if self._stream is None:
            self._stream = mimi.open()
            mimi.decode_frame(self._stream, self.heard)
        return mimi.copied(self._stream)

    def _prefill(self, cache: KvCache, rows: PhoneRows, end: int) -> Tensor:
        """Run the prompt columns from cache.length up to `end`. Return the output of
        the last one.
        """
        start = cache.length
        phones = rows.rows[:, self.places[start:end] - rows.first]  # [B, T, 2, D]
        columns = self.model.columns(phones.sum(dim=2), self.columns[:, :, start:end])
        return self.model.temporal.append(columns, cache)[:, -1]


def prepare(
    model: VoxtreamModel,
    codes: Tensor,
    speaker: Tensor,
    special: SpecialPhones = SPECIAL,
) -> PreparedPrompt:
    """Prepare a prompt from codes [K, T] and a speaker vector [192]. Its phones are masked."""
    codes = codes.to(model.device, torch.int64)
    last = codes[None, 1 : model.codebooks, -1]
    first = max(0, codes.shape[1] - model.generation.frames_heard)
    heard = codes[None, : model.codebooks, first:]
    columns = delayed(codes, model.config)
    length = columns.shape[2]
    tokens = torch.full((ROWS, length), special.unknown, device=model.device)
    tokens[:, 0], tokens[:, -1] = special.bos, special.prompt_end
    places = torch.arange(length, device=model.device)[:, None].expand(-1, 2)
    rows = model.speaker_rows(speaker)
    return PreparedPrompt(model, tokens, places, columns, rows, last, heard)
