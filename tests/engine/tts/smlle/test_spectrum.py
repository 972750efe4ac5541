"""The second network: its scale, and what a session makes of its steps."""

from dataclasses import replace

import pytest
import torch

from tests.engine.tts.recorder import Recorder
from tests.engine.tts.smlle import slow
from tests.engine.tts.smlle.small import GENERATION, SHAPE, small_parts, small_voice, speaking
from tests.engine.tts.utterances import say


def test_restored_is_what_was_normalised():
    net = small_parts().spectrum
    net.get_buffer("centre").fill_(-3.0)
    net.get_buffer("spread").fill_(2.0)
    mel = torch.randn(5, SHAPE.bands)
    assert torch.allclose(net.restored(net.normalised(mel)), mel, atol=1e-6)
    assert net.normalised(torch.full((1, SHAPE.bands), -1.0)).eq(1.0).all()


WORDS = ["We", "will", "meet,", "perhaps,", "at", "seven."]


@pytest.mark.parametrize("seed", [1, 5])
def test_the_session_makes_the_spectrum_of_the_slow_loop(seed):
    kept, voice = Recorder(), small_voice(3)
    unguarded = replace(GENERATION, most_unspoken=1000)  # the loop has no such limits
    parts = replace(small_parts(unguarded), vocoder=kept)
    say(speaking(parts, voice), [WORDS], seed=seed)
    expected = slow.log_mel(parts, voice, WORDS, seed)
    assert len(expected) > 15
    assert torch.allclose(torch.cat(kept.pieces), expected, atol=1e-4)
