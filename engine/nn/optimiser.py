"""torch's AdamW, without torch's compiler.

torch marks methods of its optimisers for a compiler, and imports the compiler to do so: 7 s of
processor time at the start of a wake phrase's training, which compiles nothing.
Invariant: with a torch that marks them in another way it is torch's AdamW, with that slow start.
"""

import inspect
from typing import Any

import torch


class AdamW(torch.optim.AdamW):
    """torch.optim.AdamW, whose step takes no closure."""

    def __init__(self, *given: Any, **named: Any) -> None:
        for method in vars(torch.optim.Optimizer).values():
            plain = inspect.unwrap(method) if callable(method) else method
            if plain is not method:
                setattr(plain, "__dynamo_disable", plain)
        super().__init__(*given, **named)

    def step(self) -> None:  # type: ignore[override]
        with torch.no_grad():
            inspect.unwrap(torch.optim.AdamW.step)(self)
