"""A voice made ready: what depends on the prompt alone, computed once.

Unlike VoXtream2's masked prompt this one has its text: Q phones under P frames, each frame with the
phones it speaks. The last phones look into the text that follows, so the last columns are computed
with the first words of every utterance.
Invariant: what is kept here is never written to after it was made; sessions copy what they change.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.transformer import causal_mask
from engine.tts.phones import BOS
from engine.tts.voxtream.config import ModelConfig
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.network.phones import PhoneRows, extend
from engine.tts.voxtream.prompt import Opened, Tables


@dataclass(frozen=True)
class Prompt:
    """What a voice is made of: codes [K, P], phone ids [Q], the first and last phone of every frame
    [P, 2], and the speaker's vector [W].
    """

    codes: Tensor
    phones: Tensor
    spans: Tensor
    speaker: Tensor


@dataclass(frozen=True)
class PreparedPrompt:
    """One voice on one model; shared by all its sessions. Sequence positions count `bos` as 0."""

    model: VoxtreamModel
    tables: Tables
    rows: PhoneRows  # of bos and the prompt's phones
    places: Tensor  # [P + 1, 2] positions of the phones of every column
    columns: Tensor  # [1, K, P + 1] codes with the acoustic delay
    cache: KvCache  # of the columns that no text can change
    speaker: Tensor  # [1, D] added to the depth transformer's first input
    last_acoustic: Tensor  # [1, K - 1] acoustic codes of the prompt's last frame

    @property
    def phones(self) -> int:
        """Sequence positions of the prompt: its phones and `bos`."""
        return self.rows.length

    @property
    def last_phone(self) -> int:
        """Sequence position of the last phone its last frame speaks."""
        return int(self.places[-1, 1])

    @property
    def room(self) -> int:
        """Frames that the temporal transformer's window holds behind the prompt."""
        return self.model.config.audio_window - self.columns.shape[2]

    def open(self, rows: PhoneRows) -> Opened:
        """The temporal state behind the prompt, given the rows of its phones and of the text."""
        cache = self.cache.copy(self.cache.length)
        return Opened(cache, prefill(self, rows, cache, self.columns.shape[2]))


def prepare(model: VoxtreamModel, tables: Tables, prompt: Prompt) -> PreparedPrompt:
    """Everything of a prompt that comes before the text."""
    device, config = model.device, model.config
    text = torch.cat((torch.tensor([BOS]), prompt.phones)).to(device)
    empty = PhoneRows(config.max_look_ahead, config.phone_window)
    rows = extend(empty, model.phone_embeddings(text[None]), model.phone, tables.phone)
    places = torch.cat((torch.zeros(1, 2, dtype=torch.int64), prompt.spans + 1)).to(device)
    codes = prompt.codes.to(device)
    prepared = PreparedPrompt(
        model,
        tables,
        rows,
        places,
        delayed(codes, config),
        KvCache(config.temporal, 1, device, model.dtype),
        model.speaker_projection(prompt.speaker.to(device, model.dtype))[None],
        codes[None, 1:, -1],
    )
    final = rows.final(config.phone.layers)
    settled = int((places[:-1, 1] < final).sum())  # the last column is every utterance's own
    if settled:
        prefill(prepared, rows, prepared.cache, settled)
    return prepared


def prefill(prompt: PreparedPrompt, rows: PhoneRows, cache: KvCache, end: int) -> Tensor:
    """Run prompt columns cache.length..end-1; hidden [1, D] of the last."""
    model, start = prompt.model, cache.length
    pairs = rows.rows[:, prompt.places[start:end] - rows.first]  # [1, T, 2, D]
    columns = model.columns(pairs.sum(dim=2), prompt.columns[:, :, start:end])
    mask = causal_mask(start, end - start, columns.device)
    hidden = model.advance(columns, prompt.tables.temporal.slice(start, end), cache, mask)
    cache.advance(end - start)
    return hidden


def delayed(codes: Tensor, config: ModelConfig) -> Tensor:
    """Prompt codes [K, P] -> columns [1, K, P + 1]: column t carries semantic code t - 1 and
    acoustic codes t - 2; the last frame's acoustics are not used.
    """
    codebooks, frames = codes.shape
    columns = codes.new_full((1, codebooks, frames + 1), config.pad)
    columns[0, 0, 1:] = codes[0]
    columns[0, 1:, 2:] = codes[1:, :-1]
    return columns
