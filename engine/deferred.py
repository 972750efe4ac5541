"""Modules of libraries that come along with what the engine uses, run only when something in them
is asked for.

Importing any part of moshi imports its language models too, and with them huggingface_hub, httpx,
rich and sentencepiece; torch brings what compilers, exporters and statisticians want. Together they
are 300 modules, 25 MB and a fifth of a start's time, for nothing that speaks. Invariant: who asks
for anything in a deferred module finds it as if it had been imported; only what imports it in
passing gets it unrun.
"""

import importlib
import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

# Each with what must run in its stead.
DEFERRED: Final[dict[str, tuple[str, ...]]] = {
    "moshi.models": (),
    # what operators would give for tensors without data, which the Python side of torch tells its
    # tracers; random numbers want one part of what it imports
    "torch._meta_registrations": ("torch._prims.rng_prims",),
    "torch.distributions": (),
    "torch.export": (),
    "torch.masked": (),
}


def defer() -> None:
    """From now on; what is imported already stays as it is."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Unrun(ModuleType):
    """Becomes the module itself when an attribute is asked for. importlib.util.LazyLoader does so
    as soon as somebody imports it a second time.
    """

    _turn = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import system itself
            raise AttributeError(name)
        with _Unrun._turn:
            spec = self.__spec__
            if type(self) is _Unrun and spec is not None and isinstance(spec.loader, _Later):
                self.__class__ = ModuleType  # type: ignore[assignment]
                spec.loader.behind.exec_module(self)
        return getattr(self, name)


class _Later(Loader):
    """Makes the module, and leaves it unrun."""

    def __init__(self, behind: Loader) -> None:
        self.behind = behind

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Unrun(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Not yet; only what others need of it."""
        for name in DEFERRED[module.__name__]:
            importlib.import_module(name)


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
