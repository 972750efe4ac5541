"""The stage `spectrum` of SMLLE and LLMVoX: a network learns to predict mel columns (time steps of
the spectrum) from tokens and aligned phones, after a prompt of the speaker.

The loss is MELLE's regression, without its post-net, latents and reward for change (flux, which at
any weight that mattered made the speech worse). Invariant: only the network's inputs are corrupted,
never its targets.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from engine.nn.transformer import KvCache
from engine.training.corpus.speakers import People, flat
from engine.training.loop import Learner, Losses, length_bucket
from engine.training.networks import initialise, padded, run_stack
from engine.training.run import Run, read_json
from engine.training.smlle.tokens import STEPS_PER_SECOND, Ints, TokenUtterance, count_of
from engine.training.utterances import read_sides
from engine.tts.pack_files import PHONES_FILE
from engine.tts.papers.spectrum import Inputs, Spectrum, SpectrumShape, before
from engine.tts.smlle.transducer import SmlleShape, Transducer

SMALLEST_SPREAD: Final = 0.1
SAMPLED: Final = 2000  # utterances from which the scale of the columns is measured


@dataclass(frozen=True)
class SpectrumLesson:
    """A training sequence of T steps: a prompt of `prompt` steps, then an utterance."""

    tokens: Ints  # [T]
    phones: Ints  # [T + ahead] aligned
    mel: Tensor  # [T, V]
    vector: npt.NDArray[np.float32]
    prompt: int


def spectrum_shape_of(run: Run) -> SpectrumShape:
    """Return the shape of the spectrum network from the recipe."""
    own, phones = run.recipe.spectrum, count_of(read_json(run.stage("encode") / PHONES_FILE))
    sizes = {"prenet": own.prenet, "latent": own.latent, "ahead": own.ahead}
    return SpectrumShape(own.stack, phones, phones * run.recipe.shapes, **sizes)


def smlle_shape(run: Run) -> SmlleShape:
    """Return the shape of both of SMLLE's networks from the recipe."""
    own = run.recipe.transducer
    return SmlleShape(own.encoder, spectrum_shape_of(run), own.layers, own.joint)


Lessons = Sequence[SpectrumLesson]
Speech = People[TokenUtterance]
Tokens = npt.NDArray[np.int16]


class SpectrumLearner(Learner):
    """Train the spectrum network."""

    averaged = "spectrum"
    exact = ("centre", "spread")

    def __init__(self, run: Run) -> None:
        self._recipe, self._shape = run.recipe.spectrum, spectrum_shape_of(run)
        self._sides = read_sides(run, TokenUtterance)
        self._drawn = drawn_tokens(run, self._sides.training) if self._recipe.drawn_tokens else {}
        self._model = Spectrum(self._shape)
        initialise(self._model)
        every = flat(self._sides.training)
        mel = np.concatenate([each.mel for each in every[:: len(every) // SAMPLED + 1]])
        bands = torch.from_numpy(mel.astype(np.float32))
        self._model.get_buffer("centre").copy_(bands.mean(0))
        self._model.get_buffer("spread").copy_(bands.std(0).clamp(min=SMALLEST_SPREAD))
        super().__init__(run, self._recipe.schedule, spectrum=self._model)

    def learn(self, share: float, draw: random.Random) -> Losses:
        recipe = self._recipe
        drawn = recipe.drawn_tokens if share >= recipe.drawn_from else 0.0
        lessons = self._lessons(self._sides.training, draw, drawn)
        own = share >= recipe.self_feeding_from and draw.random() < recipe.self_feeding
        losses = self._losses(lessons, own=own, wrong=recipe.wrong_tokens)
        return self._optimise(losses, variance=0.0)

    def validated(self, draw: random.Random) -> Losses:
        """Return the losses; `own`: the regression when the inputs are the network's own output."""
        lessons = self._lessons(self._sides.validation, draw)
        own = self._losses(lessons, own=True)["regression"]
        return {**self._losses(lessons), "own": own}

    def _lessons(self, side: Speech, draw: random.Random, drawn: float = 0.0) -> Lessons:
        """Draw a batch of lessons; in the share `drawn` of them the transducer draws the tokens."""
        utterances = length_bucket(flat(side), draw, self._batch_size)
        if drawn:
            utterances = [
                replace(each, tokens=self._drawn[id(each)]) if draw.random() < drawn else each
                for each in utterances
            ]
        return [self._lesson(each, side, draw) for each in utterances]

    def _lesson(self, said: TokenUtterance, side: Speech, draw: random.Random) -> SpectrumLesson:
        """Return an utterance after a prompt of its speaker, both cut to their longest lengths."""
        recipe, shape, whole = self._recipe, self._shape, [(said, self._recipe.longest_seconds)]
        if draw.random() >= recipe.without_prompt:
            whole.insert(0, (draw.choice(side[said.speaker]), recipe.prompt_seconds))
        parts = [(each, round(seconds * STEPS_PER_SECOND)) for each, seconds in whole]
        tokens = [each.tokens[:steps] for each, steps in parts]
        phones = [each.aligned(shape.begin, shape.end)[:steps] for each, steps in parts]
        mel = np.concatenate([each.mel[: shape.columns * steps] for each, steps in parts])
        return SpectrumLesson(
            np.concatenate(tokens).astype(np.int64),
            np.concatenate((*phones, np.full(shape.ahead, shape.end))),
            torch.from_numpy(mel.astype(np.float32)).view(-1, shape.values),
            said.vector,
            prompt=sum(map(len, tokens[:-1])),
        )

    def _losses(self, lessons: Lessons, *, own: bool = False, wrong: float = 0.0) -> Losses:
        """Return the losses. With `own`, inputs after the prompt are the network's own output."""
        model = self._model
        inputs, true, real = self._inputs(lessons, wrong)
        if own:
            prompts = torch.tensor([each.prompt for each in lessons])
            inputs = self._self_fed(inputs, prompts.to(self._device))
        count, steps = real.shape
        keep = model.prenet.keep_masks((count, steps), self._recipe.dropout, None)
        with self._autocast():
            hidden = run_stack(model.stack, model.inputs(inputs, keep))[real].float()
            columns = model.columns(hidden)[1].float()
        missed = columns - true[real]
        regression = missed.abs().mean() + missed.square().mean()
        return {"regression": regression, "variance": columns.var() / true[real].var()}

    def _inputs(self, lessons: Lessons, wrong: float = 0.0) -> tuple[Inputs, Tensor, Tensor]:
        """Return the inputs, with a share of wrong tokens, as in use; the true columns [B, T, V];
        and the mask of real steps [B, T].
        """
        shape, lengths = self._shape, torch.tensor([len(each.tokens) for each in lessons])
        mel = nn.utils.rnn.pad_sequence([each.mel for each in lessons], batch_first=True)
        bands = mel.to(self._device).view(*mel.shape[:2], shape.columns, shape.bands)
        true = self._model.normalised(bands).flatten(2)
        real = (torch.arange(true.shape[1]) < lengths[:, None]).to(self._device)
        tokens = padded(each.tokens for each in lessons)
        others = torch.randint_like(tokens, shape.tokens)
        tokens = torch.where(torch.rand(tokens.shape) < wrong, others, tokens)
        phones = padded(each.phones for each in lessons).to(self._device)
        speakers = padded(each.vector for each in lessons).to(self._device)
        return Inputs(tokens.to(self._device), phones, before(true), speakers), true, real

    @torch.no_grad()
    def _self_fed(self, inputs: Inputs, prompts: Tensor) -> Inputs:
        """Replace the columns after the prompts, which have `prompts` [B] steps, by own output."""
        model, tokens = self._model, inputs.tokens
        last, heard = inputs.before[:, 0], list[Tensor]()
        steps, device = tokens.shape[1], tokens.device
        cache = KvCache(model.shape.stack, len(tokens), device, last.dtype, growth=steps)
        for step in range(steps):
            heard.append(last)
            keep = model.prenet.keep_masks((len(last), 1), self._recipe.dropout, None)
            phones = inputs.phones[:, step : step + 1 + model.shape.ahead]
            now = Inputs(tokens[:, step : step + 1], phones, last[:, None], inputs.speaker)
            hidden = model.stack.append(model.inputs(now, keep), cache)
            true = inputs.before[:, min(step + 1, steps - 1)]
            last = torch.where((step < prompts)[:, None], true, model.columns(hidden[:, 0])[1])
        return inputs._replace(before=torch.stack(heard, dim=1))


def drawn_tokens(run: Run, people: Speech) -> Mapping[int, Tokens]:
    """Return tokens for each utterance by its id(), drawn with the trained transducer.

    In use, the spectrum network never gets true tokens, and a network trained on those alone trusts
    them too much (see codec/decoder.py). Each utterance is drawn once: at a pack's low temperature
    another draw would be nearly the same, and cost half a step of the training.
    """
    network = Transducer(smlle_shape(run))
    network.load_state_dict(load_file(run.weights("transducer")))
    temperature = run.recipe.generation.temperature
    return {id(each): draw_tokens(network.eval(), temperature, each) for each in flat(people)}


@torch.no_grad()
def draw_tokens(model: Transducer, temperature: float, utterance: TokenUtterance) -> Tokens:
    """Draw tokens [T] with torch's generator, given the true phones, lengths and past."""
    shape = model.shape
    phones = torch.from_numpy(utterance.all_phones(shape.begin, shape.end))[None]
    marks = padded([np.pad(utterance.marks, 1)])
    text = run_stack(model.encoder, model.embedded(phones, marks))[0]
    true = padded([utterance.tokens])[0]
    history = torch.cat((true.new_full((1,), shape.tokens), true[:-1]))
    speech, _ = model.predictor(model.tokens(history)[None])
    said_by = padded([utterance.spoken_by])[0]
    logits = model.logits(text[said_by], speech[0])[:, : model.blank]
    drawn = torch.multinomial((logits / temperature).softmax(-1), 1)[:, 0]
    return drawn.numpy().astype(np.int16)
