"""Defer imports of library modules that a start does not need.

Importing any part of moshi also imports its language models, and with them huggingface_hub, httpx,
rich and sentencepiece; torch imports modules for compilers, exporters and statistics. Together they
are 590 modules, 47 MB and a third of a start's time, and speech uses none of them. Invariant:
importing a deferred module does not execute it; the first attribute access does, and then the
module is as if it had been imported.
"""

import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, Final

_META: Final = "torch._meta_registrations"
_TRIED: Final = "2.13."  # torch; modules of other versions are not deferred


def _is_tried() -> bool:
    """Return whether the installed torch works with all of these modules deferred."""
    try:
        return version("torch").startswith(_TRIED)
    except PackageNotFoundError:
        return False


# Each with the functions that may be imported from it before it is executed, in the order of a
# normal import. Those of torch serve tracing, compiling, quantising and statistics: 1.4 s of its
# 2 s of CPU time, on two cores. Without deferring, the built-in voice loads in 2.1 s instead of
# 1.3 s of CPU time.
DEFERRED: Final[dict[str, tuple[str, ...]]] = {
    "torch.utils.data": (),
    "torch.distributions": (),
    "torch.nn.intrinsic": (),
    "torch.nn.qat": (),
    "torch.nn.quantizable": (),
    "torch.nn.quantized": (),
    "torch.quantization": (),
    "torch.masked": (),
    "torch.export": (),
    "torch._higher_order_ops": ("cond", "while_loop"),
    "torch.utils.checkpoint": ("checkpoint",),
    "torch.func": ("vmap",),
    _META: (),
    "torch.compiler": (),
    "torch._native": (),  # kernels written in Python for the newest GPUs; torch has others
    "torchgen.model": (),  # generates the code of torch's kernels
    "moshi.models": (),
    "joblib": (),
    "livekit.rtc": (),
}
# Packages of torch that need all of torch executed.
_COMPILERS: Final = frozenset(
    (
        *("torch._decomp", "torch._dynamo", "torch._export", "torch._functorch", "torch._inductor"),
        *("torch._higher_order_ops", "torch._prims", "torch._refs", "torch.ao", "torch.fx"),
    )
)
if not _is_tried():
    for _name in [name for name in DEFERRED if name.startswith("torch.")]:
        del DEFERRED[_name]


def defer() -> None:
    """Defer the modules from now on; imported ones stay as they are."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Unrun(ModuleType):
    """A deferred module, which executes itself at the first attribute access.
    importlib.util.LazyLoader would do so at the second import already.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import system itself
            raise AttributeError(name)
        if type(self) is _Unrun and name in DEFERRED[self.__name__]:
            return lambda *given, **named: getattr(_run(self), name)(*given, **named)
        return getattr(_run(self), name)


class _Later(Loader):
    """Creates a module and defers its execution."""

    def __init__(self, behind: Loader) -> None:
        self.behind = behind

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Unrun(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing yet, except for one line far below it that generators of random numbers
        need.
        """
        if module.__name__ == _META:
            from torch import _C
            from torch._opaque_base import OpaqueBaseMeta

            _C._set_generator_metaclass(OpaqueBaseMeta)


class _There(Loader):
    """Returns a module that was imported together with a deferred one."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class _Finder(MetaPathFinder):
    """Finds deferred modules where all others are found."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in DEFERRED:
            spec = PathFinder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Later(spec.loader)
            return spec
        if ".".join(name.split(".")[:2]) in _COMPILERS and _has_deferred_torch():
            _run(sys.modules["torch.func"])
            if module := sys.modules.get(name):  # the import goes on with the spec it finds there
                module.__spec__ = ModuleSpec(name, _There(module))
                return module.__spec__
        return None


def _has_deferred_torch() -> bool:
    """Return whether torch is imported, except for deferred modules."""
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    imported = spec is not None and not getattr(spec, "_initializing", False)
    return imported and "torch.func" in DEFERRED and "torch" not in _underway


_turn = threading.RLock()
_underway: set[str] = set()  # libraries


def _run(module: ModuleType) -> ModuleType:
    """Execute a module with all deferred modules of its library, which rely on their order."""
    library = module.__name__.partition(".")[0]
    with _turn:
        if library in _underway:
            _run_alone(module)
            return module
        _underway.add(library)
        try:
            for name in DEFERRED:
                if name.partition(".")[0] == library and name in sys.modules:
                    _run_alone(sys.modules[name])
        finally:
            _underway.discard(library)
    return module


def _run_alone(module: ModuleType) -> None:
    loader = module.__spec__ and module.__spec__.loader
    if type(module) is _Unrun and isinstance(loader, _Later):
        module.__class__ = ModuleType  # type: ignore[assignment]
        loader.behind.exec_module(module)
