"""Networks whose weights are read from a file as soon as they are made.

Invariant: whoever makes one so replaces every parameter (weights_file.py).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

_DRAWS: Final = frozenset(
    (init.kaiming_uniform_, init.uniform_, init.normal_, Tensor.uniform_, Tensor.normal_)
)


class Unset(TorchFunctionMode):
    """Inside, parameters keep what their memory happens to hold: drawing millions of numbers that
    nobody sees takes half of the time of reading a codec.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if func in _DRAWS:
            return args[0] if args else named["tensor"]
        return func(*args, **named)
