"""The part in use: replaced when the settings name another one, adjusted when they do not.

Invariant: belongs to one thread. A failure to load is reported. The previous part stays, or is
loaded again if memory was too short for both; without one, a part that needs no download is the
fallback.
"""

import logging
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import psutil

from engine.errors import Cancelled, EngineError, ModelError
from engine.machine import return_freed_memory
from engine.messages.events import Failed, Loading, Ready
from engine.messages.words import Part
from engine.runtime.workers.worker import Tell
from engine.settings import PartSettings, load_key
from engine.translatable import Progress, Translatable, mark

logger = logging.getLogger(__name__)

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
    """Empty at first; load_or_adjust() fills it.

    `load` may raise anything, also Cancelled. `use` applies live settings to a loaded part, and
    returns its detail for the status line. `size_bytes` estimates the memory of the part of these
    settings.
    """

    def __init__(
        self,
        part: Part,
        tell: Tell,
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
        self._settings: S | None = None  # of the last loaded part; None = none
        self.why = ""  # reason of an automatic choice
        self.fault = ""  # why the requested one is not in use

    def load_or_adjust(self, settings: S, why: str = "") -> None:
        """Load the part of the settings, or adjust the one in use; `why` is the reason of an
        automatic choice. Raises Cancelled.
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
        """Load the part of the settings; a failure is reported and changes nothing."""
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
        except Exception as error:  # noqa: BLE001 - whatever a library raises, there is a fallback
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
        """Load with one retry: a library's error may be temporary, as when two threads import at
        the same time. Our own errors are not.
        """
        try:
            return self._load(settings, progress)
        except (EngineError, MemoryError):
            raise
        except Exception:
            logger.warning("part did not load, trying again part=%s", self._part, exc_info=True)
            return self._load(settings, progress)

    def _fall_back(self, failed: S) -> None:
        """Load the previous part, or the fallback."""
        before, stand_in = self._settings, self._stand_in
        ran_before = before is not None and load_key(before) != load_key(failed)
        if before is not None and ran_before and self._replace(before, instead=True):
            return
        if load_key(stand_in) != load_key(failed):
            self._replace(stand_in, instead=True)

    def _adjust(self, part: P, settings: S, *, instead: bool = False) -> None:
        """Apply live settings; a failure is reported and changes nothing."""
        try:
            detail = self._use(part, settings)
        except Exception as error:  # noqa: BLE001 - as above
            self._tell(Failed.of(_unloaded(self._part, error), self._part))
            return
        self._settings = settings
        self._tell(Ready(self._part, part.info.name, detail, instead, self.why))


def _unloaded(part: Part, error: Exception) -> EngineError:
    """Return `error` itself if it is ours; otherwise log it and return a ModelError."""
    if isinstance(error, EngineError):
        return error
    logger.error("part did not load part=%s", part, exc_info=error)
    return ModelError(
        _UNLOADED[part],
        hint="{command} shows what is missing. Or choose another in the settings.",
        error=error,
        command="rubato doctor",
    )
