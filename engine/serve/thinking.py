"""The language model of a server, for all its clients.

Invariant: one reply at a time. Nothing of this person gets out: no name, no file that a skill would
read aloud, and what a skill would do to this computer is not done. It is loaded when it is first
asked.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing
from typing import Final

from engine.llm.base import (
    ChangeRate,
    Delta,
    LanguageModel,
    Message,
    Retraction,
    Situation,
    StillLoading,
    StopSpeaking,
    TextDelta,
    ThoughtDelta,
    Unanswered,
)
from engine.llm.history import ChatMessage
from engine.llm.tools.rounds import Completer, Piece
from engine.llm.tools.toolbox import ToolCall, ToolSchema
from engine.runtime.factories import Factories
from engine.serve.model_thread import ModelThread
from engine.settings import LanguageModelSettings

NOT_HERE: Final = "That only works in the window of Rubato."


class Mind:
    """Nothing is loaded before it is needed; stop() releases it."""

    def __init__(self, settings: LanguageModelSettings, factories: Factories) -> None:
        self._settings = settings
        self._factories = factories
        self._thread = ModelThread("mind of the server")
        self._turn = asyncio.Lock()
        self._model: LanguageModel | None = None  # None = not loaded yet

    async def reply(
        self, history: Sequence[Message], rate: float | None = None
    ) -> AsyncGenerator[TextDelta | ChangeRate, None]:
        """Answer the last user message; closing it ends the work. An empty text means that the
        model is still working. `rate` (SPS) is what the client is spoken to at.
        LanguageModelError, ModelError.
        """
        situation = Situation(rate=rate, volume=1.0, voice="", voices=())
        async with self._turn:
            model = await self._thread.call(self._ready)
            deltas = model.reply(history, lambda: situation)
            async with aclosing(self._each(deltas)) as each:
                async for delta in each:
                    yield delta

    async def complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema]
    ) -> AsyncGenerator[TextDelta | ToolCall, None]:
        """The same for a client that has functions of its own, whose calls are for it to carry
        out; for a model that can_call().
        """
        async with self._turn:
            model = await self._thread.call(self._ready)
            assert isinstance(model, Completer), "asked before"
            pieces = model.complete(messages, tools)
            try:
                while (piece := await self._thread.call(lambda: next(pieces, None))) is not None:
                    yield piece if isinstance(piece, ToolCall) else _text(piece)
            finally:
                self._thread.post(pieces.close)

    async def can_call(self) -> bool:
        """Whether the language model can be told of other functions than the skills."""
        return isinstance(await self._thread.call(self._ready), Completer)

    def stop(self) -> bool:
        """False when its thread hangs."""
        return self._thread.stop(self._release)

    async def _each(
        self, deltas: Generator[Delta, None, None]
    ) -> AsyncGenerator[TextDelta | ChangeRate, None]:
        try:
            while (delta := await self._thread.call(lambda: next(deltas, None))) is not None:
                match delta:
                    case TextDelta(private=False) | ChangeRate():
                        yield delta
                    case StopSpeaking():
                        return
                    case ThoughtDelta() | Retraction() | StillLoading() | Unanswered():
                        yield TextDelta("")
                    case _:  # a file read aloud, or something to be done to this computer
                        yield TextDelta(NOT_HERE)
                        return
        finally:
            self._thread.post(deltas.close)

    def _ready(self) -> LanguageModel:
        if self._model is None:
            self._model = self._factories.language_model(self._settings, lambda phrase, share: None)
        return self._model

    def _release(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None


def _text(piece: Piece) -> TextDelta:
    return TextDelta(piece if isinstance(piece, str) else "")
