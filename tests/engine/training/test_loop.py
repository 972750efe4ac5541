"""A recipe asks for bfloat16, whether a machine multiplies in it is the machine's matter; lessons
of one length fill a batch.
"""

import random

import numpy as np
import pytest
import torch

from engine.training.loop import in_bf16, of_like_length


@pytest.mark.parametrize(
    ("asked", "abilities", "dtype"),
    [
        (True, {"avx512_bf16": True}, torch.bfloat16),
        (True, {"avx512_bf16": False, "amx_bf16": True}, torch.bfloat16),
        (True, {"avx512_bf16": False, "avx512_fp16": True}, torch.float32),
        (False, {"avx512_bf16": True}, torch.float32),
    ],
)
def test_a_processor_multiplies_in_bf16_only_where_it_has_the_instructions(
    monkeypatch: pytest.MonkeyPatch,
    asked: bool,
    abilities: dict[str, bool],
    dtype: torch.dtype,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: abilities, raising=False)
    with in_bf16("cpu", asked=asked):
        assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype is dtype


def test_lessons_of_a_batch_are_about_as_long_and_all_come_equally_often() -> None:
    draw, seen = random.Random(1), list[int]()
    for _ in range(400):
        lengths = of_like_length(range(80), lambda each: each, draw, 8)
        assert len(lengths) == 8
        assert max(lengths) - min(lengths) < 60
        seen += lengths
    assert np.histogram(seen, 4, (0, 80))[0] / len(seen) == pytest.approx(0.25, abs=0.04)
    assert of_like_length(["only"], len, draw, 3) == ["only"] * 3
