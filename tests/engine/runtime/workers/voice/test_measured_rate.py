"""The rate that is shown while the formant voice speaks through the speaker's thread."""

import random

import pytest

from tests.benchmarks.measured_rate import TEXTS, measure


@pytest.mark.parametrize(
    ("text", "moves"),
    [(TEXTS[0], (4.0, 6.0, 3.0, 5.0)), (TEXTS[2], (3.0, 6.5, 4.5, 3.0))],
    ids=["ordinary", "short sentences"],
)
def test_two_seconds_after_a_move_it_is_the_rate_of_the_speech_since_the_move(text, moves):
    errors = [line.split()[-1] for line in measure("espeak", 2 * text, moves, random.Random(1))]
    assert [float(error) for error in errors] == pytest.approx([0.0] * 3, abs=5.0)
