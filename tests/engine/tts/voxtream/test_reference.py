"""What the references' own code made of weights and inputs that ours is given here."""

import pytest

from tests.engine.tts.voxtream.reference import random_redimnet, some_sound

# By tests/parity/redimnet_parity.py: every eighth element.
REDIMNET = (
    0.37942, -0.39735, -0.11940, -1.03551, 0.13244, 0.37885, -0.29220, 0.19608,
    -0.80412, -0.13337, -0.44663, 0.35943, 0.30295, -0.31155, 0.07625, 0.79079,
    1.02938, -0.04887, 0.48629, -0.52213, -1.36236, 0.24785, -0.00899, -1.35970,
)  # fmt: skip


def test_the_speaker_encoder_says_what_its_authors_code_says() -> None:
    found = random_redimnet().embed(some_sound())[::8].tolist()
    assert found == pytest.approx(REDIMNET, abs=2e-4)
