"""The decoder in torch: it says what the published graph says, and its timbre can learn."""

import numpy as np
import pytest
import torch

from engine.errors import ModelError
from engine.tts.kokoro.fit.decoder import inputs_of, load_decoder, measure, timbre_of
from engine.tts.kokoro.windows import plan_natural
from tests.engine.tts.kokoro.small import of_graph, phoned, small_parts, small_style

STYLE = small_style()


@pytest.fixture(scope="module")
def decoder():
    return load_decoder(small_parts().published)


@pytest.fixture(scope="module")
def speech():
    return plan_natural(small_parts(), STYLE, phoned(), accent="en-us")


def test_its_norms_measure_what_the_graphs_do(decoder, speech):
    """But for the graph's activations, which are rounded to bytes."""
    parts = small_parts()
    found = measure(decoder, parts, speech, STYLE, None)
    names = dict.fromkeys(name for norm in parts.layout["norms"].values() for name in norm.values())
    expected = of_graph(parts.published, STYLE, speech, *names)
    for name, each in zip(names, expected, strict=True):
        assert np.abs(found[name] - each).mean() < 0.1 * np.abs(each).mean() + 0.01, name
    ends = [f"Reduce{kind} {entry}" for kind in ("Min", "Max") for entry in parts.layout["levels"]]
    assert set(ends) <= set(found)


def test_a_shift_of_all_norms_is_another_timbre(decoder, speech):
    moved = STYLE + 0.1
    expected = measure(decoder, small_parts(), speech, moved, None)
    shift = np.full((len(decoder.norms), 128), 0.1, np.float32)
    found = measure(decoder, small_parts(), speech, STYLE, shift)
    for name, each in expected.items():
        assert found[name] == pytest.approx(each, abs=1e-3), name


def test_the_gradient_reaches_the_timbre_and_every_shift(decoder, speech):
    timbre = timbre_of(STYLE).requires_grad_()
    shift = torch.zeros(len(decoder.norms), 128, requires_grad=True)
    decoder.set_shift(shift)
    pcm = decoder(*inputs_of(small_parts().source, speech), timbre)
    assert pcm.shape == (600 * len(speech.features),)
    pcm.square().mean().backward()
    assert timbre.grad.abs().max() > 0
    assert (shift.grad.abs().amax(1) > 0).all()


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(ModelError, match=r"gone\.onnx"):
        load_decoder(tmp_path / "gone.onnx")
