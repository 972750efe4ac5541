"""The stage `transducer`: which tokens a text becomes, and where the next phone is waited for.

First on the path the corpus knows, then on all paths near it (see `lattice`). What it draws, given
the true phones, their lengths and the past, the spectrum learns from: in use that never gets true
tokens, and a network that learnt on those alone trusts them too much (as `codec/draw.py` has it).
Invariant: the logits of a lesson's nodes equal those that a session computes one by one.
"""

import random
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from engine.training import recipe as recipes
from engine.training.codebook import count_of
from engine.training.encoded import People, Sides, read_sides
from engine.training.loop import (
    Learner,
    Losses,
    StepContext,
    in_bf16,
    of_like_length,
    on_device,
    train_and_save,
)
from engine.training.run import Run, read_json
from engine.training.smlle.lattice import Band, band, transducer_loss
from engine.training.smlle.utterances import Encoded
from engine.training.stacks import causal, first_weights, run_stack, stack_config
from engine.tts.pack_files import PHONES_FILE
from engine.tts.smlle.config import Shape
from engine.tts.smlle.transducer import Transducer
from engine.tts.system.spectrum import SpectrumShape

FIRST_BLANK: Final = 5.0  # so that an untrained net waits about as often as it speaks
STEPS_PER_SECOND: Final = 25


def train_transducer(run: Run) -> None:
    """Train and write transducer.safetensors (the averaged weights)."""
    inputs = run.require("tokens")
    sides = read_sides(run, "tokens", Encoded)
    shape = shape_of(run)
    recipe = run.recipe.transducer
    train_and_save(
        run,
        run.stage("transducer") / "transducer.safetensors",
        lambda device: TransducerLearner(recipe, shape, sides, device),
        inputs,
    )


def shape_of(run: Run) -> Shape:
    """The shape a recipe asks for."""
    transducer, spectrum = run.recipe.transducer, spectrum_shape_of(run)
    return Shape(
        stack_config(transducer.width, transducer.encoder),
        spectrum,
        transducer.layers,
        transducer.joint,
    )


def spectrum_shape_of(run: Run) -> SpectrumShape:
    """The shape of the spectrum's network that a recipe asks for."""
    spectrum, phones = run.recipe.spectrum, count_of(read_json(run.stage("codebook") / PHONES_FILE))
    return SpectrumShape(
        stack_config(spectrum.width, spectrum.stack),
        phones,
        phones * run.recipe.codebook.shapes,
        prenet=spectrum.prenet,
        latent=spectrum.latent,
        speaker_width=run.recipe.speaker.width,
        ahead=spectrum.ahead,
    )


class TransducerLearner(Learner):
    """The network and its loss."""

    averaged = "transducer"

    def __init__(
        self, recipe: recipes.Transducer, shape: Shape, sides: Sides[Encoded], device: torch.device
    ) -> None:
        self._recipe = recipe
        self._shape = shape
        self._sides = sides
        self._model = Transducer(shape)
        first_weights(self._model)
        self._model.bias.data[self._model.blank] = FIRST_BLANK
        super().__init__(recipe.schedule, device, transducer=self._model)

    def learn(self, context: StepContext) -> Losses:
        recipe = self._recipe
        reach = recipe.reach if context.share >= recipe.path_from else 0
        loss = self._loss(self._lessons(self._sides.training, context.draw), reach)
        return self._optimise({"path" if reach == 0 else "lattice": loss})

    def validated(self, draw: random.Random) -> dict[str, Tensor]:
        """Both losses per token."""
        lessons = self._lessons(self._sides.validation, draw)
        return {
            "path": self._loss(lessons, 0),
            "lattice": self._loss(lessons, self._recipe.reach),
        }

    def _lessons(self, side: People[Encoded], draw: random.Random) -> Sequence[Encoded]:
        longest = round(self._recipe.longest_seconds * STEPS_PER_SECOND)
        everybody = [each for person in side.values() for each in person]
        short = [each for each in everybody if each.steps <= longest]  # paragraphs are longer
        return of_like_length(short or everybody, lambda each: each.steps, draw, self._batch_size)

    def _loss(self, lessons: Sequence[Encoded], reach: int) -> Tensor:
        """-log probability per token."""
        model, shape = self._model, self._shape
        phones = padded([each.units(shape.begin, shape.end) for each in lessons])
        marks = padded([np.pad(each.marks, 1) for each in lessons])
        tokens = padded([each.tokens for each in lessons]).to(self._device)
        places = padded([each.spoken_by for each in lessons])
        units = torch.tensor([len(each.phones) + 2 for each in lessons])
        counts = torch.tensor([each.steps for each in lessons])
        within = on_device(band(places, units, counts, reach), self._device)
        bf16 = self._recipe.schedule.bf16
        with in_bf16(self._device, asked=bf16):
            logits = self._logits(phones.to(self._device), marks.to(self._device), tokens, within)
        labels = logits.float().log_softmax(-1)  # [B, T + 1, W, V + 1]
        targets = functional.pad(tokens, (0, 1))[:, :, None, None]
        emit = labels.gather(-1, targets.expand(-1, -1, labels.shape[2], 1))[..., 0]
        losses = transducer_loss(labels[..., model.blank], emit, within)
        return losses.sum() / counts.sum()

    def _logits(self, phones: Tensor, marks: Tensor, tokens: Tensor, within: Band) -> Tensor:
        """Of the band's nodes [B, T + 1, W, V + 1]; phones and marks [B, U], tokens [B, T]."""
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


def padded(rows: Sequence[npt.NDArray[Any]]) -> Tensor:
    """Rows side by side, int64, zeros behind the shorter ones."""
    tensors = [torch.from_numpy(np.asarray(row).astype(np.int64)) for row in rows]
    return nn.utils.rnn.pad_sequence(tensors, batch_first=True)


class Draws:
    """A trained transducer, asked for one utterance at a time. It draws once for each: at a pack's
    low temperature the next draw would be nearly the same, and cost half a step of the spectrum's.
    """

    def __init__(self, transducer: Transducer, temperature: float) -> None:
        self._transducer, self._temperature = transducer.eval(), temperature
        self._drawn: dict[int, tuple[Encoded, npt.NDArray[np.int16]]] = {}  # by identity

    def tokens(self, utterance: Encoded) -> npt.NDArray[np.int16]:
        """Other tokens [T] for an utterance, from torch's generator."""
        if id(utterance) not in self._drawn:
            self._drawn[id(utterance)] = utterance, self._draw(utterance)
        return self._drawn[id(utterance)][1]

    @torch.no_grad()
    def _draw(self, utterance: Encoded) -> npt.NDArray[np.int16]:
        model, shape = self._transducer, self._transducer.shape
        phones = torch.from_numpy(utterance.units(shape.begin, shape.end))[None]
        marks = torch.from_numpy(np.pad(utterance.marks, 1).astype(np.int64))[None]
        mask = causal(phones.shape[1], phones.device)
        text = run_stack(model.encoder, model.embedded(phones, marks), mask)[0]
        true = torch.from_numpy(utterance.tokens.astype(np.int64))
        history = torch.cat((true.new_full((1,), shape.tokens), true[:-1]))
        speech, _ = model.predictor(model.tokens(history)[None])
        said_by = torch.from_numpy(utterance.spoken_by.astype(np.int64))
        logits = model.logits(text[said_by], speech[0])[:, : model.blank]
        drawn = torch.multinomial((logits / self._temperature).softmax(-1), 1)[:, 0]
        return drawn.numpy().astype(np.int16)


def read_draws(run: Run) -> Draws:
    """The transducer that a run has trained, at the temperature of its pack."""
    transducer = Transducer(shape_of(run))
    transducer.load_state_dict(load_file(run.stage("transducer") / "transducer.safetensors"))
    return Draws(transducer, run.recipe.export.temperature)
