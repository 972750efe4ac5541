"""SMLLE's transducer, and the shapes and constants of a pack, with their sources. From phones to
semantic tokens, one decision at a time: speak a token, or wait for the next phone.

    phones ─▶ causal encoder ─┐
    tokens ─▶ LSTM ───────────┴─▶ joint net ─▶ token or blank       (SMLLE, 2.1)

"SMLLE, 2.2" is a section of the paper (Sun et al., 2025). Where the paper leaves a value open, or
ours is smaller, the comment says so.
Invariant: a pack's config.json decides every tensor's shape. A decision depends on the units read
and the tokens spoken before it, and draws once; the arrival of the text does not matter. Forward
never writes to the module.
"""

from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

import torch
from torch import Tensor, nn

from engine.nn.sampling import draw_top, race_noise
from engine.nn.transformer import Embedding, KvCache, Linear, Transformer, TransformerConfig
from engine.settings.rules import Range
from engine.tts.base import RateRange
from engine.tts.pack_files import check_system
from engine.tts.papers.spectrum import SpectrumShape

NAME: Final = "smlle"
STEPS_PER_FRAME: Final = 2  # 80 ms
STEP_MS: Final = 40
MARKS: Final = {"": 0, ",": 1, ".": 2, "?": 3, "!": 4}  # behind a phone, read together with it
NEVER: Final = 999_999


@dataclass(frozen=True)
class SmlleShape:
    """Shapes of one pack's networks. The paper's stacks have 12 layers of width 1024 (3.2), and its
    encoder is a Conformer; ours are small, causal Llama stacks.
    """

    encoder: TransformerConfig
    spectrum: SpectrumShape  # the paper's tokeniser has 1024 values of a token
    predictor_layers: Annotated[int, Range(1, 16)] = 2  # LSTM (SMLLE, 3.2)
    joint: Annotated[int, Range(1, 16_384)] = 256

    @property
    def begin(self) -> int:
        return self.spectrum.begin

    @property
    def end(self) -> int:
        return self.spectrum.end

    @property
    def tokens(self) -> int:
        return self.spectrum.tokens


@dataclass(frozen=True)
class SmlleGeneration:
    """Constants of generation."""

    top_tokens: Annotated[int, Range(1, 4097)] = 15  # SMLLE, 3.3, where the blank is among them
    # of the tokens; the paper does not give one
    temperature: Annotated[float, Range(0.01, 100)] = 1.0
    # of the phones: 1 = drawn as learnt, 0 = all have their median (ours)
    lengths: Annotated[float, Range(0, 1)] = 1.0
    # of the pre-net, also when speaking (SMLLE, 3.3)
    dropout: Annotated[float, Range(0, 0.99)] = 0.5
    # of one phone, 1.2 s; then the next phone must follow (ours)
    most_tokens: Annotated[int, Range(1, 10_000)] = 30
    # phones in a row without a token; the next one must have one (ours)
    most_unspoken: Annotated[int, Range(1, 10_000)] = 4
    # a passage this long ends with its sentence (ours)
    passage_steps: Annotated[int, Range(1, 999_999)] = NEVER
    own_rate: Annotated[float, Range(0.1, 100)] = 4.0  # SPS without a bias, measured by the export
    # on the blank per unit of log(wanted / measured rate) (ours)
    pull: Annotated[float, Range(0, 100)] = 1.0
    rate_window_frames: Annotated[int, Range(1, 10_000)] = 38  # 3 s, as VoXtream2's
    lowest_rate: Annotated[float, Range(0.1, 100)] = 1.5
    highest_rate: Annotated[float, Range(0.1, 100)] = 7.0

    @property
    def rates(self) -> RateRange:
        """Rates that a session accepts, in SPS."""
        return RateRange(self.lowest_rate, self.highest_rate)


@dataclass(frozen=True)
class SmllePackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: SmlleShape
    generation: SmlleGeneration
    system: str = NAME

    def check(self) -> None:
        """Raise ValueError for values that do not fit each other."""
        check_system(self.system, NAME)
        if self.generation.lowest_rate >= self.generation.highest_rate:
            raise ValueError("its rates leave no room")


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
        self, transducer: Transducer, generation: SmlleGeneration, generator: torch.Generator
    ) -> None:
        self._transducer = transducer
        self._generation = generation
        self._generator = generator
        self._cache = KvCache(transducer.shape.encoder, device=transducer.bias.device)
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
        transducer = self._transducer
        row = transducer.embedded(torch.tensor([[unit.phone]]), torch.tensor([[unit.mark]]))
        self._text = transducer.encoder.append(row, self._cache)[:, 0]

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
