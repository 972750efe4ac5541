"""What ours makes of the weights that the public code was given, step by step."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.settings import SpeechSettings
from engine.tts.llmvox.model import NOTHING, TEXT_END
from engine.tts.llmvox.published.conversion import END
from engine.tts.llmvox.published.model import PublishedModel, PublishedSentence
from engine.tts.llmvox.published.synthesiser import PublishedSynthesiser, load
from engine.tts.llmvox.units import ByteUnits
from tests.engine.tts.llmvox.published.checkpoints import Size, write_pickles

TEXT = "Nobody on the quiet shore saw the old boat leave, naïve as it was."
WORDS = tuple(TEXT.split())
STEPS = 200
STEP_STRIDE, LOGIT_STRIDE, SAMPLE_STRIDE = 20, 97, 641  # of what is kept of theirs


@dataclass(frozen=True)
class Said:
    """Logits [STEPS, tokens] in the published order, codes, samples [320 STEPS]."""

    logits: Tensor
    codes: list[int]
    samples: Tensor


@contextmanager
def loaded(size: Size) -> Iterator[PublishedSynthesiser]:
    """Through the whole way: fetched pickles, their conversion, the loader."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUBATO_DATA", folder)
        write_pickles(Path(folder), size)
        patch.setattr(PublishedModel, "pack", lambda model, threads: None)  # as theirs: fp32
        settings = SpeechSettings(engine="llmvox-published", device="cpu")
        yield load(settings, lambda text, fraction: None)


@torch.inference_mode()
def said(size: Size) -> Said:
    """STEPS steps, and all of their tokens as one window."""
    with loaded(size) as synthesiser:
        parts = synthesiser.parts
        replica, reader = PublishedSentence(parts.model), ByteUnits(STEPS)
        units = [unit for word in WORDS for each in reader.push(word) for unit in each.units]
        units = [*units, TEXT_END, *[NOTHING] * STEPS][:STEPS]
        before = parts.model.shape.tokens
        logits, tokens = [], []
        for unit in units:
            logits.append(replica.predict(unit, before))
            before = int(logits[-1].argmax())
            tokens.append(before)
        samples = parts.codec(parts.model.codebook.weight[tokens])
    rows = torch.stack(logits)
    published = torch.cat((rows[:, :END], rows[:, -1:], rows[:, END:-1]), dim=1)
    return Said(published, [token + (token >= END) for token in tokens], samples)
