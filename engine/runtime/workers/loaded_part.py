"""The part in use: loaded only when the settings name another one, adjusted when they do not.

Invariant: belongs to one thread. When what was asked for cannot be loaded, that is told. What ran
before runs on, or is loaded again if memory was too short for both; if nothing ran, a part that
needs no download stands in.
"""

import logging
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import psutil

from engine.errors import Cancelled, EngineError, ModelError
from engine.messages.events import Event, Failed, Loading, Notice, Ready
from engine.messages.words import Part
from engine.nn.memory import return_freed_memory
from engine.runtime.turn.facts import Fact
from engine.settings import PartSettings, load_key
from engine.translatable import Translatable, mark

logger = logging.getLogger(__name__)

Progress = Callable[[str, float | None], None]  # what is being done, and how far it is (0..1)

_AGAIN = {
    Part.RECOGNISER: Translatable("The recogniser from before was loaded again."),
    Part.LANGUAGE_MODEL: Translatable("The language model from before was loaded again."),
    Part.SYNTHESISER: Translatable("The synthesiser from before was loaded again."),
}
_UNLOADED = {
    Part.RECOGNISER: mark("The recogniser could not be loaded: {error}."),
    Part.LANGUAGE_MODEL: mark("The language model could not be loaded: {error}."),
    Part.SYNTHESISER: mark("The synthesiser could not be loaded: {error}."),
}


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Loadable(Protocol):
    @property
    def info(self) -> _Named: ...

    def close(self) -> None: ...


S = TypeVar("S", bound=PartSettings)
P = TypeVar("P", bound=_Loadable)


class LoadedPart(Generic[S, P]):
    """Nothing at first; take() changes that.

    `load` may raise anything, also Cancelled; `use` hands a loaded part the settings that apply
    live, and returns its detail for the status line. `size_bytes` says how much memory the part of
    these settings will take, about.
    """

    def __init__(
        self,
        part: Part,
        tell: Callable[[Fact | Event], None],
        *,
        load: Callable[[S, Progress], P],
        use: Callable[[P, S], str],
        size_bytes: Callable[[S], int],
        stand_in: S,
    ) -> None:
        self.now: P | None = None  # None = none is loaded
        self._part = part
        self._tell = tell
        self._load = load
        self._use = use
        self._size_bytes = size_bytes
        self._stand_in = stand_in
        self.release: Callable[[P], None] = lambda part: part.close()  # may be replaced
        self._settings: S | None = None  # of the one that was loaded last; None = none was
        self.why = ""  # the part in use was chosen, where the person left that open
        self.fault = ""  # why the requested one is not in use

    def take(self, settings: S, why: str = "") -> None:
        """Have what the settings name; `why` they do, where the person left that open. Raises
        Cancelled when loading was given up.
        """
        known = self._settings is not None and load_key(settings) == load_key(self._settings)
        if self.now is not None and known:
            self.why, self.fault = why, ""
            self._adjust(self.now, settings)
            return
        free_bytes = int(psutil.virtual_memory().available)
        if self.now is not None and self._size_bytes(settings) > free_bytes:
            self.close()  # there is no memory for both
        if not self._replace(settings, why) and self.now is None:
            self._fall_back(settings)

    def close(self) -> None:
        """Release the part, if there is one."""
        part, self.now = self.now, None
        if part is not None:
            self.release(part)

    def _replace(self, settings: S, why: str = "", *, instead: bool = False) -> bool:
        """Load what the settings name; a failure is told and changes nothing."""
        told: Loading | None = None

        def progress(text: str, fraction: float | None) -> None:
            nonlocal told
            said, told = told, Loading(self._part, text, fraction)
            if told != said:
                self._tell(told)

        progress(Translatable("Loading {name}", name=settings.engine), None)
        try:
            part = self._loaded(settings, progress)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a library raises, another stands in
            fault = _unloaded(self._part, error)
            self.fault = self.fault if instead else fault.message
            self._tell(Failed.of(fault, self._part))
            return False
        self.close()
        self.now, self._settings, self.why = part, settings, why
        self.fault = self.fault if instead else ""
        self._adjust(part, settings, instead=instead)
        return_freed_memory()
        return True

    def _loaded(self, settings: S, progress: Progress) -> P:
        """What a library raises may be over at once, as when two threads import at the same time:
        one more try. Our own errors say what is wrong, and stay.
        """
        try:
            return self._load(settings, progress)
        except (EngineError, MemoryError):
            raise
        except Exception:
            logger.warning("part did not load, trying again part=%s", self._part, exc_info=True)
            return self._load(settings, progress)

    def _fall_back(self, failed: S) -> None:
        """Load what ran before, or what stands in."""
        before, stand_in = self._settings, self._stand_in
        ran_before = before is not None and load_key(before) != load_key(failed)
        if before is not None and ran_before and self._replace(before, instead=True):
            self._tell(Notice(_AGAIN[self._part]))
        elif load_key(stand_in) != load_key(failed):
            self._replace(stand_in, instead=True)

    def _adjust(self, part: P, settings: S, *, instead: bool = False) -> None:
        """Hand over what applies live; a failure is told and changes nothing."""
        try:
            detail = self._use(part, settings)
        except Exception as error:  # noqa: BLE001 - as above
            self._tell(Failed.of(_unloaded(self._part, error), self._part))
            return
        self._settings = settings
        self._tell(Ready(self._part, part.info.name, detail, instead, self.why))


def _unloaded(part: Part, error: Exception) -> EngineError:
    """`error` itself when it is one of ours; else one that says so, and the rest is logged."""
    if isinstance(error, EngineError):
        return error
    logger.error("part did not load part=%s", part, exc_info=error)
    return ModelError(
        _UNLOADED[part],
        hint="{command} shows what is missing. Or choose another in the settings.",
        error=error,
        command="rubato doctor",
    )
