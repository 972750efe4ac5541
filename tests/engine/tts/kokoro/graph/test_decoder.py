"""The decoder written anew says what the graph it was made of says."""

from dataclasses import replace

import numpy as np
import pytest

from engine.tts.kokoro.plan import Plan
from engine.tts.kokoro.source import FRAME
from engine.tts.kokoro.windows import render
from tests.engine.tts.kokoro.small import scratch, small_parts, small_style, write_small
from tests.engine.tts.kokoro.words import (
    TEXT,
    frames_apart,
    learnt,
    of_graph,
    phoned,
    planned,
    wish,
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(wish(phoned(TEXT)))


@pytest.fixture(scope="module")
def expected(plan) -> np.ndarray:
    """Of the graph as it is."""
    file = scratch("whole") / "small.onnx"
    write_small(file)
    return of_graph(file, "audio", small_style(), plan)


def test_the_sound_is_the_same_but_for_rounding(plan, expected):
    """With the statistics of the sentence itself. Its norms and bytes are then those of the graph,
    whose phase drifts, because it adds it up in float32.
    """
    made = render(small_parts(), learnt().given, plan, 0, len(plan.features))
    assert made.shape == expected.shape
    apart = frames_apart(expected, made, FRAME)
    assert np.median(apart) < 0.04
    assert np.corrcoef(made, expected)[0, 1] > 0.98


def test_other_features_make_another_sound(plan, expected):
    """So the test above can fail, wherever the mistake is."""
    given = learnt().given
    for part in ("features", "curves", "turns"):
        other = replace(plan, **{part: np.roll(getattr(plan, part), 1, axis=0)})
        made = render(small_parts(), given, other, 0, len(plan.features))
        assert np.median(frames_apart(expected, made, FRAME)) > 0.05, part
