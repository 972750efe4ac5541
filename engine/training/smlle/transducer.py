"""The stage `transducer`: a network learns to predict the tokens of a text, and when it needs the
next phone (the blank label).

It learns first on the alignment known from the corpus, then on all alignments near it (see
`lattice`). Invariant: the logits of a lesson's nodes equal those that a session computes one by
one.
"""

import random
from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.training.loop import Learner, Losses, Maker, StepContext
from engine.training.networks import causal, initialise, run_stack
from engine.training.run import Run
from engine.training.smlle import Transducer as Recipe
from engine.training.smlle.lattice import Band, band, transducer_loss
from engine.training.smlle.spectrum import padded, smlle_shape
from engine.training.smlle.tokens import STEPS_PER_SECOND, TokenUtterance
from engine.training.utterances import People, Sides, read_sides
from engine.tts.smlle.config import SmlleShape
from engine.tts.smlle.transducer import Transducer

FIRST_BLANK: Final = 5.0  # so that an untrained net waits about as often as it speaks


def transducer(run: Run) -> Maker:
    """Return a function that makes the transducer's learner on a device."""
    recipe, shape, sides = run.recipe.transducer, smlle_shape(run), read_sides(run, TokenUtterance)
    return lambda device: TransducerLearner(recipe, shape, sides, device)


class TransducerLearner(Learner):
    """Train the transducer."""

    averaged = "transducer"

    def __init__(
        self, recipe: Recipe, shape: SmlleShape, sides: Sides[TokenUtterance], device: torch.device
    ) -> None:
        self._recipe = recipe
        self._shape = shape
        self._sides = sides
        self._model = Transducer(shape)
        initialise(self._model)
        self._model.bias.data[self._model.blank] = FIRST_BLANK
        super().__init__(recipe.schedule, device, transducer=self._model)

    def learn(self, context: StepContext) -> Losses:
        recipe = self._recipe
        reach = recipe.reach if context.share >= recipe.path_from else 0
        loss = self._loss(self._lessons(self._sides.training, context.draw), reach)
        return self._optimise({"path" if reach == 0 else "lattice": loss})

    def validated(self, draw: random.Random) -> dict[str, Tensor]:
        """Return both losses per token: of the known alignment, and of those near it."""
        lessons = self._lessons(self._sides.validation, draw)
        return {
            "path": self._loss(lessons, 0),
            "lattice": self._loss(lessons, self._recipe.reach),
        }

    def _lessons(
        self, side: People[TokenUtterance], draw: random.Random
    ) -> Sequence[TokenUtterance]:
        longest = self._recipe.longest_seconds * STEPS_PER_SECOND  # paragraphs are longer
        return self._bucket(side, lambda each: each.steps, draw, longest)

    def _loss(self, lessons: Sequence[TokenUtterance], reach: int) -> Tensor:
        """Return -log of the probability per token, summed over alignments at most `reach` units
        from the known one.
        """
        model, shape = self._model, self._shape
        phones = padded([each.all_phones(shape.begin, shape.end) for each in lessons])
        marks = padded([np.pad(each.marks, 1) for each in lessons])
        tokens = padded([each.tokens for each in lessons]).to(self._device)
        places = padded([each.spoken_by for each in lessons])
        units = torch.tensor([len(each.phones) + 2 for each in lessons])
        counts = torch.tensor([each.steps for each in lessons])
        within = self._move(band(places, units, counts, reach))
        with self._autocast():
            logits = self._logits(phones.to(self._device), marks.to(self._device), tokens, within)
        labels = logits.float().log_softmax(-1)  # [B, T + 1, W, V + 1]
        targets = functional.pad(tokens, (0, 1))[:, :, None, None]
        emit = labels.gather(-1, targets.expand(-1, -1, labels.shape[2], 1))[..., 0]
        losses = transducer_loss(labels[..., model.blank], emit, within)
        return losses.sum() / counts.sum()

    def _logits(self, phones: Tensor, marks: Tensor, tokens: Tensor, within: Band) -> Tensor:
        """Return the logits of the band's nodes [B, T + 1, W, V + 1], from phones and
        marks [B, U].
        """
        model, share = self._model, self._recipe.dropout
        mask = causal(phones.shape[1], phones.device)
        rows = functional.dropout(model.embedded(phones, marks), share, model.training)
        text = run_stack(model.encoder, rows, mask)  # [B, U, D]
        first = tokens.new_full((len(tokens), 1), model.shape.tokens)
        history = functional.dropout(
            model.tokens(torch.cat((first, tokens), dim=1)), share, model.training
        )
        with torch.autocast(self._device.type, enabled=False):  # a CPU has no LSTM in bf16
            speech, _ = model.predictor(history.float())  # [B, T + 1, D]
        # Both projections are computed once per row, only their sum per node; logits() does it for
        # one node.
        texts, nodes = model.text(text), within.nodes
        lessons = torch.arange(len(nodes), device=nodes.device)[:, None, None]
        joined = (texts[lessons, nodes] + model.speech(speech)[:, :, None]).tanh()
        out: Tensor = model.labels(joined) + model.bias
        return out
