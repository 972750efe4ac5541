"""Tokens as the transducer draws them, for the spectrum to learn from: in use it never gets true
ones, and a network that learnt on those alone trusts them too much (as `codec/draw.py` has it).

Invariant: phones, their lengths and the past are the true ones; only tokens are drawn.
"""

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file

from engine.training.run import Run
from engine.training.smlle.transducer import shape_of
from engine.training.smlle.utterances import Encoded
from engine.training.stacks import causal, run_stack
from engine.tts.smlle.transducer import Transducer


class Draws:
    """A trained transducer, asked for one utterance at a time."""

    def __init__(self, transducer: Transducer, temperature: float) -> None:
        self._transducer, self._temperature = transducer.eval(), temperature

    @torch.no_grad()
    def tokens(self, utterance: Encoded) -> npt.NDArray[np.int16]:
        """Other tokens [T] for an utterance, from torch's generator."""
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
