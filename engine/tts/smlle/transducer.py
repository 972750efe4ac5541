"""From phones to semantic tokens, one decision at a time: speak a token, or wait for the next
phone.

    phones ─▶ causal encoder ─┐
    tokens ─▶ LSTM ───────────┴─▶ joint net ─▶ token or blank       (SMLLE, 2.1)

Invariant: a decision depends on the units read and the tokens spoken before it, and draws once; the
arrival of the text does not matter. Forward never writes to the module.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from engine.nn.cache import KvCache
from engine.nn.sampling import draw_top, race_noise
from engine.nn.transformer import Embedding, Linear, RotaryTable, Transformer
from engine.tts.smlle.config import MARKS, SmlleGeneration, SmlleShape


class Unit(NamedTuple):
    """A phone and the punctuation mark after it (MARKS), read together."""

    phone: int
    mark: int = 0


class Transducer(nn.Module):
    """Encoder, predictor and joint net. The blank is the label after all tokens."""

    def __init__(self, shape: SmlleShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.encoder.width
        self.phones = Embedding(shape.spectrum.phones, width)
        self.marks = Embedding(len(MARKS), width)
        self.encoder = Transformer(shape.encoder)
        self.tokens = Embedding(shape.tokens + 1, width)  # the last one stands for no token yet
        self.predictor = nn.LSTM(width, width, shape.predictor_layers, batch_first=True)
        self.text = Linear(width, shape.joint)
        self.speech = Linear(width, shape.joint)
        self.labels = Linear(shape.joint, shape.tokens + 1)
        self.bias = nn.Parameter(torch.zeros(shape.tokens + 1), requires_grad=False)

    @property
    def blank(self) -> int:
        return self.shape.tokens

    def embedded(self, phones: Tensor, marks: Tensor) -> Tensor:
        """Embed units [B, U] as [B, U, D]."""
        out: Tensor = self.phones(phones) + self.marks(marks)
        return out

    def logits(self, text: Tensor, speech: Tensor) -> Tensor:
        """Joint net: from rows of the encoder and of the predictor [..., D] to logits of labels
        [..., V + 1].
        """
        joined = (self.text(text) + self.speech(speech)).tanh()
        out: Tensor = self.labels(joined) + self.bias
        return out


class Decisions:
    """The transducer's decisions for one passage: a path through the lattice."""

    def __init__(
        self,
        transducer: Transducer,
        table: RotaryTable,
        generation: SmlleGeneration,
        generator: torch.Generator,
    ) -> None:
        self._transducer = transducer
        self._table = table
        self._generation = generation
        self._generator = generator
        device = transducer.bias.device
        self._cache = KvCache(transducer.shape.encoder, 1, device, torch.float32)
        self._text = torch.empty(0)  # encoder's row [1, D] of the unit read last
        self._speech, self._memory = self._predicted(transducer.shape.tokens, None)
        self._said = 0  # tokens of this unit
        self._unspoken = 0  # units before it without a token
        self._going_on = 1.0  # probability that this unit lasts longer
        self._quantile = 0.5  # it ends when that probability is below this

    def read(self, unit: Unit) -> None:
        """Encode the next unit, and draw how long it will last."""
        if self._cache.length:
            self._unspoken = 0 if self._said else self._unspoken + 1
        self._said, self._going_on = 0, 1.0
        quantile = float(torch.rand(1, generator=self._generator))
        self._quantile = 0.5 + self._generation.lengths * (quantile - 0.5)
        transducer, place = self._transducer, self._cache.length
        row = transducer.embedded(torch.tensor([[unit.phone]]), torch.tensor([[unit.mark]]))
        out = transducer.encoder(row, self._table.slice(place, place + 1), self._cache)
        self._cache.advance(1)
        self._text = out[:, 0]

    def decide(self, bias: float) -> int | None:
        """Draw a token; None = wait for the next unit. `bias` is added to the blank's logit."""
        generation, blank = self._generation, self._transducer.blank
        if self._said >= generation.most_tokens:
            return None
        logits = self._transducer.logits(self._text, self._speech)  # [1, V + 1]
        logits[:, blank] += bias
        if self._unspoken < generation.most_unspoken or self._said:
            self._going_on *= 1 - float(logits.softmax(-1)[0, blank])
            if self._going_on < self._quantile:
                return None
        probabilities = (logits[:, :blank] / generation.temperature).softmax(-1)
        count = min(generation.top_tokens, blank)
        label = int(draw_top(probabilities, count, race_noise(count, self._generator)))
        self._said += 1
        self._speech, self._memory = self._predicted(label, self._memory)
        return label

    def _predicted(
        self, token: int, memory: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the predictor's row [1, D] after one more token, and its new state."""
        rows, memory = self._transducer.predictor(
            self._transducer.tokens(torch.tensor([[token]])), memory
        )
        return rows[:, 0], memory
