"""The stages `transducer` and `export` of SMLLE. The transducer learns to predict the tokens of a
text, and when it needs the next phone (the blank label).

Its loss is summed over monotonic alignments of units and tokens. At node (i, j) of their lattice,
units 0..i have been read and j tokens predicted. A token leads to node (i, j + 1), a blank to node
(i + 1, j); the blank at the last unit after the last token ends the path (SMLLE, 2.1; equations 1
and 2). A band keeps the nodes near the alignment known from the corpus (Speech-T's idea). A wide
band gives the paper's loss, reach 0 the cross-entropy of a single path, with which the training
begins. Invariant: the logits of a lesson's nodes equal those that a session computes one by one.

Letters: B lessons, T tokens, W units of a band, U units.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.training import packing
from engine.training.corpus.speakers import People, flat
from engine.training.evaluation.voices import spoken_rate
from engine.training.loop import Learner, Losses, length_bucket, on_device
from engine.training.networks import initialise, padded, run_stack
from engine.training.run import Run
from engine.training.smlle.spectrum import smlle_shape
from engine.training.smlle.tokens import STEPS_PER_SECOND, TokenUtterance
from engine.training.utterances import mean_vector, read_sides
from engine.training.voxtream.export import tuning_texts
from engine.tts.pack_files import SPECTRUM_FILE, VOCODER_FILE
from engine.tts.smlle import synthesiser
from engine.tts.smlle.transducer import SmllePackConfig, Transducer

NEVER: Final = -1e5  # log of a probability of nothing; infinity would make gradients NaN
FIRST_BLANK: Final = 5.0  # so that an untrained net waits about as often as it speaks
SLOWEST, FASTEST = 1.0, 10.0  # SPS that a pack may give as its own
PROMPT_SECONDS: Final = (2.0, 6.0)  # of a named voice; in training it is 3 s


class TransducerLearner(Learner):
    """Train the transducer."""

    averaged = "transducer"

    def __init__(self, run: Run) -> None:
        self._recipe, self._shape = run.recipe.transducer, smlle_shape(run)
        self._sides = read_sides(run, TokenUtterance)
        self._model = Transducer(self._shape)
        initialise(self._model)
        self._model.bias.data[self._model.blank] = FIRST_BLANK
        super().__init__(run, self._recipe.schedule, transducer=self._model)

    def learn(self, share: float, draw: random.Random) -> Losses:
        recipe = self._recipe
        reach = recipe.reach if share >= recipe.path_from else 0
        loss = self._loss(self._lessons(self._sides.training, draw), reach)
        return self._optimise({"path" if reach == 0 else "lattice": loss})

    def validated(self, draw: random.Random) -> Losses:
        """Return both losses per token: of the known alignment, and of those near it."""
        lessons = self._lessons(self._sides.validation, draw)
        path, lattice = (self._loss(lessons, reach) for reach in (0, self._recipe.reach))
        return {"path": path, "lattice": lattice}

    def _lessons(self, side: People[TokenUtterance], draw: random.Random) -> list[TokenUtterance]:
        longest = self._recipe.longest_seconds * STEPS_PER_SECOND  # paragraphs are longer
        return length_bucket(flat(side), draw, self._batch_size, longest)

    def _loss(self, lessons: Sequence[TokenUtterance], reach: int) -> Tensor:
        """Return -log of the probability per token of alignments at most `reach` units away."""
        model, shape = self._model, self._shape
        phones = padded([each.all_phones(shape.begin, shape.end) for each in lessons])
        marks = padded([np.pad(each.marks, 1) for each in lessons])
        tokens = padded([each.tokens for each in lessons]).to(self._device)
        places = padded([each.spoken_by for each in lessons])
        units = torch.tensor([len(each.phones) + 2 for each in lessons])
        counts = torch.tensor([each.steps for each in lessons])
        within = on_device(band(places, units, counts, reach), self._device)
        with self._autocast():
            logits = self._logits(phones.to(self._device), marks.to(self._device), tokens, within)
        labels = logits.float().log_softmax(-1)  # [B, T + 1, W, V + 1]
        targets = functional.pad(tokens, (0, 1))[:, :, None, None]
        emit = labels.gather(-1, targets.expand(-1, -1, labels.shape[2], 1))[..., 0]
        losses = transducer_loss(labels[..., model.blank], emit, within)
        return losses.sum() / counts.sum()

    def _logits(self, phones: Tensor, marks: Tensor, tokens: Tensor, within: "Band") -> Tensor:
        """Return the logits [B, T + 1, W, V + 1] of the band's nodes from phones and marks."""
        model, share = self._model, self._recipe.dropout
        rows = functional.dropout(model.embedded(phones, marks), share, model.training)
        text = run_stack(model.encoder, rows)  # [B, U, D]
        first = tokens.new_full((len(tokens), 1), model.shape.tokens)
        before = model.tokens(torch.cat((first, tokens), dim=1))
        history = functional.dropout(before, share, model.training)
        with torch.autocast(self._device.type, enabled=False):  # a CPU has no LSTM in bf16
            speech, _ = model.predictor(history.float())  # [B, T + 1, D]
        # Both projections are computed once per row, only their sum per node; logits() does it for
        # one node.
        texts, nodes = model.text(text), within.nodes
        lessons = torch.arange(len(nodes), device=nodes.device)[:, None, None]
        joined = (texts[lessons, nodes] + model.speech(speech)[:, :, None]).tanh()
        return cast(Tensor, model.labels(joined) + model.bias)


@dataclass(frozen=True)
class Band:
    """The part of the lattice that the loss sums over: in each row (number of tokens) the units
    from `first` to `last`, both [B, T + 1]. `units` and `tokens` [B] are the true lengths of padded
    lessons.
    """

    first: Tensor
    last: Tensor
    units: Tensor
    tokens: Tensor

    @property
    def nodes(self) -> Tensor:
        """The unit of each node [B, T + 1, W]; padding repeats the row's last unit."""
        return torch.minimum(self.first[..., None] + self._steps, self.last[..., None])

    @property
    def mask(self) -> Tensor:
        """The mask of real nodes [B, T + 1, W], False at padding."""
        return self._steps <= (self.last - self.first)[..., None]

    @property
    def _steps(self) -> Tensor:
        width = int((self.last - self.first).max()) + 1
        return torch.arange(width, device=self.first.device)


def band(places: Tensor, units: Tensor, tokens: Tensor, reach: int) -> Band:
    """Return the nodes within `reach` units of an alignment: the unit of each token [B, T]."""
    count = len(places)
    end = (units - 1)[:, None]  # [B, 1]
    rows = torch.arange(places.shape[1] + 1, device=places.device)
    # Row j is entered by token j - 1 and left by token j; behind the last one blanks lead out.
    entered = torch.cat((places.new_zeros(count, 1), places), dim=1)
    left = torch.cat((places, end), dim=1)
    left = torch.where(rows >= tokens[:, None], end, left)
    entered = torch.where(rows > tokens[:, None], end, entered)
    first = (entered - reach).clamp(min=0)
    last = torch.minimum(left + reach, end)
    return Band(torch.minimum(first, last), last, units, tokens)


def transducer_loss(blank: Tensor, emit: Tensor, within: Band) -> Tensor:
    """Return -log of the summed probability of all paths inside the band, [B].

    `blank` and `emit` are log-probabilities at the band's nodes [B, T + 1, W]: of a blank, which
    leads to the next unit, and of the true next token (any value in rows without one).
    """
    ahead = blank.cumsum(-1) - blank  # log of all blanks before each unit of a row
    steps = torch.arange(blank.shape[-1], device=blank.device)
    # Only unit 0 is there before anything was read.
    row = ahead[:, 0].masked_fill(~within.mask[:, 0], NEVER)
    rows = [row]
    for number, shift in enumerate(within.first.diff(dim=1).unbind(1)):  # one token a row
        places = (steps + shift[:, None]).clamp(min=0)  # of the next row's units in this one
        known, inner = places < len(steps), places.clamp(max=len(steps) - 1)
        inside = within.mask[:, number + 1] & within.mask[:, number].gather(1, inner) & known
        entered = (row + emit[:, number]).gather(1, inner).masked_fill(~inside, NEVER)
        later = ahead[:, number + 1]
        row = (entered - later).logcumsumexp(-1) + later  # any number of blanks
        rows.append(row)
    end = within.tokens[:, None]  # row of each lesson behind its last token
    place = within.units[:, None] - 1 - within.first.gather(1, end)  # [B, 1]
    where = end[..., None].expand(-1, 1, len(steps))
    forward, last = (each.gather(1, where)[:, 0] for each in (torch.stack(rows, 1), blank))
    return -(forward + last).gather(1, place).flatten()


def export_pack(run: Run) -> None:
    """Write the pack. As in the paper, a named voice's prompt is an utterance with its text."""
    export, own, shape = run.recipe.export, run.recipe.generation, smlle_shape(run)

    shortest, longest = (seconds * STEPS_PER_SECOND for seconds in PROMPT_SECONDS)

    def voice_of(person: Sequence[TokenUtterance]) -> packing.Network:
        good = [each for each in person if shortest <= each.steps <= longest]
        prompt = max(good or person, key=lambda each: each.steps)
        phones = prompt.aligned(shape.begin, shape.end).astype(np.int16)
        speaker = mean_vector(person)
        arrays = {"tokens": prompt.tokens, "phones": phones, "mel": prompt.mel, "speaker": speaker}
        return arrays, {}

    names = (synthesiser.TRANSDUCER_FILE, SPECTRUM_FILE, VOCODER_FILE)
    networks = dict(zip(names, ("transducer", "spectrum", "vocoder"), strict=True))
    config, load = SmllePackConfig(export.name, shape, own), synthesiser.load
    packing.export_pack(run, networks, config, load, TokenUtterance, voice_of)
    # Drawn, the networks do not speak as fast as the speech they learnt from.
    said = tuning_texts(own.own_rate, export.tuning_seconds)
    rate = min(max(spoken_rate(load(packing.pack_folder(run)), said), SLOWEST), FASTEST)
    packing.write_tables(run, replace(config, generation=replace(own, own_rate=rate)))
