"""Packages of libraries that come along with what the engine uses, run only when something in them
is asked for.

Importing any part of moshi imports its language models too, and with them huggingface_hub, httpx,
rich and sentencepiece; torch brings what exporters, quantisers and statisticians want: 230 modules
of its 1,130, and half of the processor time of its import. Invariant: who asks for anything in a
deferred package finds it as if it had been imported; only what imports it in passing gets it unrun.
They are public packages that nothing else of their library is made of, so each runs by itself.
"""

import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, Final

_TORCH: Final = (
    "torch.utils.data",
    "torch.distributions",
    "torch.nn.intrinsic",
    "torch.nn.qat",
    "torch.nn.quantizable",
    "torch.nn.quantized",
    "torch.quantization",
    "torch.masked",
    "torch.export",
)
_TRIED: Final = (2, 13)  # torch; of an older one no package waits


def _is_tried() -> bool:
    """Whether the torch that is installed is one that works with all of these unrun."""
    try:
        major, minor, *_ = version("torch").split(".")
        return (int(major), int(minor)) >= _TRIED
    except (PackageNotFoundError, ValueError):
        return False


DEFERRED: Final = frozenset(
    ("moshi.models", "joblib", "livekit.rtc", *(_TORCH if _is_tried() else ()))
)
_turn = threading.RLock()


def defer() -> None:
    """From now on; what is imported already stays as it is."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Unrun(ModuleType):
    """Becomes the module itself when an attribute is asked for. importlib.util.LazyLoader does so
    as soon as somebody imports it a second time.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import system itself
            raise AttributeError(name)
        with _turn:
            loader = self.__spec__ and self.__spec__.loader
            if type(self) is _Unrun and isinstance(loader, _Later):
                self.__class__ = ModuleType  # type: ignore[assignment]
                loader.behind.exec_module(self)
        return getattr(self, name)


class _Later(Loader):
    """Makes the module, and leaves it unrun."""

    def __init__(self, behind: Loader) -> None:
        self.behind = behind

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Unrun(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Not yet."""


class _Finder(MetaPathFinder):
    """Finds what is to be deferred where anything else is found."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in DEFERRED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)
        return spec
