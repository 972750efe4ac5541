"""What the public code made of weights that ours is given here."""

import json
from pathlib import Path

import pytest

from tests.engine.tts.llmvox.published.checkpoints import FULL, SMALL
from tests.engine.tts.llmvox.published.reference import (
    LOGIT_STRIDE,
    SAMPLE_STRIDE,
    STEP_STRIDE,
    STEPS,
    said,
)

KEPT = Path(__file__).parents[4] / "parity" / "llmvox.json"


@pytest.mark.parametrize(
    ("name", "size"), [("small", SMALL), pytest.param("full", FULL, marks=pytest.mark.long)]
)
def test_it_says_what_its_authors_code_says(name, size):
    theirs = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    ours = said(size)
    assert len(theirs["codes"]) == STEPS
    assert ours.codes == theirs["codes"]
    for found, wanted in zip(ours.logits[::STEP_STRIDE], theirs["logits"], strict=True):
        assert found[::LOGIT_STRIDE].tolist() == pytest.approx(wanted, abs=1e-5)
    assert ours.samples[::SAMPLE_STRIDE].tolist() == pytest.approx(theirs["samples"], abs=1e-4)
