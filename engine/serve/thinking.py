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
        self._thread = ModelThread(
            "mind of the server",
            lambda: factories.language_model(settings, lambda phrase, share: None),
        )
        self._turn = asyncio.Lock()

    async def reply(
        self, history: Sequence[Message], rate: float | None = None
    ) -> AsyncGenerator[TextDelta | ChangeRate, None]:
        """Answer the last user message; closing it ends the work. An empty text means that the
        model is still working. `rate` (SPS) is what the client is spoken to at.
        LanguageModelError, ModelError.
        """
        situation = Situation(rate=rate, volume=1.0, voice="", voices=())
        each = self._thread.each(lambda model: model.reply(history, lambda: situation))
        async with self._turn, aclosing(each):
            async for delta in each:
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

    async def complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema]
    ) -> AsyncGenerator[TextDelta | ToolCall, None]:
        """The same for a client that has functions of its own and carries their calls out; for a
        model that can_call().
        """

        def begin(model: LanguageModel) -> Generator[Piece, None, None]:
            assert isinstance(model, Completer), "asked before"
            return model.complete(messages, tools)

        each = self._thread.each(begin)
        async with self._turn, aclosing(each):
            async for piece in each:
                if isinstance(piece, ToolCall):
                    yield piece
                else:
                    yield TextDelta(piece if isinstance(piece, str) else "")

    async def can_call(self) -> bool:
        """Whether the language model can be told of other functions than the skills."""
        return await self._thread.call(lambda model: isinstance(model, Completer))

    def stop(self) -> bool:
        """False when its thread hangs."""
        return self._thread.stop()
