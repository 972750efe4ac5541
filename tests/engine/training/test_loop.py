"""A recipe asks for bfloat16; whether a machine multiplies in it is the machine's matter."""

import pytest
import torch

from engine.training.loop import in_bf16


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
