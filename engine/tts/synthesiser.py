"""Base of the synthesisers: own voices, prepared voices, warm-up.

Invariant: a voice of another model is never prepared.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from engine.errors import InvalidInput
from engine.tts.base import Pcm, TtsInfo, TtsSession, Voice

MOST_VOICES: Final = 4  # whose snapshots stay in memory; one of VoXtream2 has tens of megabytes
_Prepared = TypeVar("_Prepared")


class Synthesiser(ABC, Generic[_Prepared]):
    """A TtsModel that makes no voices from recordings, unless its class overrides `encode_voice`.
    Weights never change; a session changes only its own state. Used from one thread; its sessions
    may be stepped in any order.
    """

    rehearsed: tuple[str, ...] = ("ready",)

    def __init__(
        self, info: TtsInfo, own_voices: tuple[Voice, ...], prepare: Callable[[Voice], _Prepared]
    ) -> None:
        """`prepare` computes what sessions need of a voice. InvalidInput for an
        unsuitable voice.
        """
        self.info = info
        self._voices = own_voices
        self._prepare = prepare
        self._recent: OrderedDict[int, tuple[Voice, _Prepared]] = OrderedDict()  # spoke last

    def voices(self) -> tuple[Voice, ...]:
        return self._voices

    @abstractmethod
    def open(self, voice: Voice, *, seed: int) -> TtsSession: ...

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """Not called here, because info.can_clone is False."""
        raise NotImplementedError

    def warm(self, voice: Voice) -> None:
        """Compute a frame and discard it, because a library's first call takes longer."""
        with self.open(voice, seed=0) as session:
            for word in self.rehearsed:
                session.push_word(word)
            session.end_input()
            session.step()

    def close(self) -> None:
        """Discard the prepared voices."""
        self._recent.clear()

    def _of(self, voice: Voice) -> _Prepared:
        """Return a voice as `prepare` made it, cached for the last few voices. InvalidInput for a
        voice of another model.
        """
        if voice.model != self.info.voice_model:
            raise InvalidInput(
                "The voice '{name}' was made for '{model}'.",
                hint="Choose a voice of this synthesiser, or add the recording again.",
                name=voice.name,
                model=voice.model,
            )
        if id(voice) not in self._recent:
            # The entry keeps the voice alive, so no other voice can get its id.
            self._recent[id(voice)] = (voice, self._prepare(voice))
            while len(self._recent) > MOST_VOICES:
                self._recent.popitem(last=False)
        self._recent.move_to_end(id(voice))
        return self._recent[id(voice)][1]
