"""Any OpenAI-compatible server: llama-server, Ollama, LM Studio, vLLM, or a remote one.

Invariant: every wait is limited and can be stopped within a slice, and so is the size of answers
(see client.py). Everything is sent only to the address in the settings, and only once, with two
exceptions: a request whose form the server refuses is repeated in another form (form.py), and a
server that is loading its model is asked until it has. Nothing private is sent to another computer.

The event loop runs only inside Steps.steps(), a slice at a time; between slices the caller has
control and may close the generator, which cancels the awaited work.
"""

import asyncio
import json
import re
import time
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import httpx

from engine.llm.base import Deltas, GetState, LanguageModelInfo, Message, StillLoading
from engine.llm.history import ChatMessage, too_long
from engine.llm.servers.address import is_local
from engine.llm.servers.client import (
    EVENT_STREAM,
    Client,
    Event,
    OutOfBounds,
    Refused,
    chunks,
    events,
)
from engine.llm.servers.completion import Completion, Reported
from engine.llm.servers.faults import LOADING, ServerFaults, complaint, own_words
from engine.llm.servers.form import Form, Sent, is_about_parsing, is_too_long
from engine.llm.servers.listing import MAX_NAME_CHARS, chat_models
from engine.llm.skills import Skills
from engine.llm.tools import rounds
from engine.llm.tools.rounds import Piece, Pieces
from engine.llm.tools.toolbox import ToolCall, ToolSchema, schemas
from engine.settings import LanguageModelSettings

# A large model on a slow machine may have to be loaded first, or read a long conversation.
FIRST_TOKEN_S = 30.0
LOADING_S = 300.0  # a large model on a slow disk; the user sees that it loads, and may end it
RETRY_S, LONGEST_RETRY_S = 1.0, 10.0
STALL_S = 15.0  # between tokens; a longer wait is useless in a conversation
AFTER_END_S = 1.0  # for events after the reason for ending: some servers never close the stream
# Including thoughts. Nearly an hour of speech; a server that sends more is broken.
MAX_REPLY_CHARS = 50_000

# The errors raised when an answer is not that of a chat server.
_NOT_CHAT = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_ABOUT_REQUEST = frozenset((400, 404, 413, 422, 500, 501))  # statuses that may be about its form
_NO_SUCH_MODEL = re.compile(
    r"model_not_found|model.{0,210}(not found|not loaded|not exist|unloaded|unknown)"
    r"|(invalid|unknown|no such) model"
)
SLICE_S = 0.05  # the longest delay until a cancellation is noticed
CLOSING_S = 1.0  # for closing a connection; afterwards it is dropped

T = TypeVar("T")


class Steps:
    """An event loop that advances while its caller iterates. Used from one thread at a time."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()

    def steps(self, work: Coroutine[Any, Any, T], limit_s: float) -> Generator[str, None, T]:
        """Await the work, yielding "" after each slice; return its result. TimeoutError."""
        if limit_s <= 0:
            work.close()
            raise TimeoutError
        task = self._loop.create_task(work)
        deadline = self._loop.time() + limit_s
        try:
            while True:
                self._loop.run_until_complete(asyncio.wait({task}, timeout=SLICE_S))
                if task.done():
                    return task.result()
                if self._loop.time() >= deadline:
                    raise TimeoutError
                yield ""
        finally:
            if not task.done():
                task.cancel()
                self._loop.run_until_complete(asyncio.gather(task, return_exceptions=True))

    def finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Await the closing of a connection, for CLOSING_S at most."""

        async def limited() -> None:
            async with asyncio.timeout(CLOSING_S):
                await work

        with suppress(TimeoutError):
            self._loop.run_until_complete(limited())

    def close(self) -> None:
        """Close the loop, and join its thread for the look-up of host names."""
        self._runner.close()


class ServerModel:
    """A LanguageModel behind an address. Connects at the first reply, not before."""

    def __init__(self, settings: LanguageModelSettings, client: Client, skills: Skills) -> None:
        self._settings = settings
        self._client = client
        self._skills = skills
        self._steps = Steps()
        self._faults = ServerFaults(settings.address, settings.key_variable, client.proxy)
        self._model = settings.model
        self._form = Form()
        self._begins_thinking = False  # the prompt opens a thought, as the last reply showed

    @property
    def info(self) -> LanguageModelInfo:
        model = self._model or "the server's model"
        return LanguageModelInfo("server", f"{model} at {self._settings.address}")

    def reply(self, history: Sequence[Message], state: GetState) -> Deltas:
        prompt = self._settings.system_prompt
        remote = not is_local(self._settings.address)
        return rounds.reply(self.complete, self._skills, prompt, history, state, remote=remote)

    def warm(self, history: Sequence[Message]) -> Generator[None, None, None]:
        """Do nothing: servers cache prompts themselves, and an extra request might cost money."""
        yield from ()

    def adjust(self, settings: LanguageModelSettings) -> None:
        """Use these settings, but the old address: it decides whether private text is sent."""
        self._settings = replace(settings, address=self._settings.address)

    def close(self) -> None:
        self._steps.finish(self._client.close())
        self._steps.close()

    def complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema] | None = None
    ) -> Pieces:
        """One completion. `tools` None: the skills'. Raises LanguageModelError."""
        try:
            yield from self._accepted(messages, schemas() if tools is None else tools)
        except (Refused, Reported) as error:
            if is_too_long(complaint(error.body)):
                raise too_long() from error
            if isinstance(error, Refused):
                raise self._faults.status(error, self._model) from error
            raise self._faults.reported(own_words(error.body)) from error
        except (httpx.HTTPError, OSError) as error:
            raise self._faults.connection(error) from error
        except OutOfBounds as error:
            raise self._faults.out_of_bounds() from error
        except _NOT_CHAT as error:
            raise self._faults.garbled() from error

    def _accepted(self, messages: list[ChatMessage], tools: Sequence[ToolSchema]) -> Pieces:
        """Send the request in the form that the server accepts, as learned from its refusals."""
        attempts = _Attempts()
        while True:
            yield from self._name_model()
            sent = self._form.fit(messages, tools, self._settings.context_tokens, attempts.below)
            try:
                yield from self._request(sent)
            except (Refused, Reported) as error:
                if not self._adapts(error, sent, attempts):
                    raise
            else:
                return

    def _adapts(self, error: Refused | Reported, sent: Sent, attempts: "_Attempts") -> bool:
        """Return whether another model, another form, or a repetition can help."""
        if not (error.early if isinstance(error, Reported) else error.status in _ABOUT_REQUEST):
            return False
        words = complaint(error.body)
        is_404 = isinstance(error, Refused) and error.status == 404
        is_gone = is_404 or _NO_SUCH_MODEL.search(words)
        if is_gone and not (self._settings.model or attempts.listed):
            attempts.listed, self._model = True, ""
            return True
        if not attempts.repeated and is_about_parsing(error.body):
            attempts.repeated = True
            return True
        context = self._form.context
        learned = self._form.learn(error.body, self._model, sent)
        if self._form.context < context:
            attempts.below = sent.dialogue
        return learned

    def _name_model(self) -> Pieces:
        """If the settings name no model, choose the first chat model that the server lists."""
        if not self._model:
            listing = json.loads((yield from self._answered(self._client.models)))
            name = next(iter(chat_models(listing)), "")
            if not name and "data" in listing:
                raise self._faults.no_model()
            if not name:
                raise ValueError("not a list of models")
            self._model = name[:MAX_NAME_CHARS]

    def _request(self, sent: Sent) -> Pieces:
        request = self._form.request(self._model, sent, self._settings)
        response = yield from self._answered(partial(self._client.chat, request))
        try:
            yield from self._pieces(response, offers_tools=bool(sent.tools))
        finally:
            with suppress(OSError, httpx.HTTPError):
                self._steps.finish(response.aclose())

    def _pieces(self, response: httpx.Response, *, offers_tools: bool) -> Pieces:
        """Yield text, thoughts and calls of one stream, which must end with a reason for ending."""
        completion = Completion(begins_thinking=self._begins_thinking, most=MAX_REPLY_CHARS)
        incoming = events(chunks(response))
        was_complete, deadline = False, time.monotonic() + LOADING_S
        while (event := (yield from self._next(incoming, completion, deadline))) is not None:
            yield ""  # after every event, so that a server that never pauses cannot block us
            yield from _drop_unoffered(completion.take(event), offers_tools=offers_tools)
            if completion.is_over:
                break
            if completion.grew or completion.is_complete is not was_complete:
                was_complete = completion.is_complete
                deadline = time.monotonic() + (AFTER_END_S if was_complete else LOADING_S)
        if not completion.is_complete:
            kind = response.headers.get("Content-Type", "").lower()
            streamed = kind.startswith(EVENT_STREAM) or completion.is_reply
            raise self._faults.broken_off() if streamed else self._faults.garbled()
        yield from _drop_unoffered(completion.end(), offers_tools=offers_tools)
        self._begins_thinking = completion.begins_thinking

    def _next(
        self, incoming: AsyncIterator[Event], completion: Completion, deadline: float
    ) -> Generator[str, None, Event | None]:
        """Return the next event; None at the end. Once the reply is complete no fault matters."""
        patience_s = STALL_S if completion.is_reply else FIRST_TOKEN_S
        left_s = deadline - time.monotonic()
        try:
            return (yield from self._steps.steps(_next(incoming), min(patience_s, left_s)))
        except TimeoutError as error:
            if completion.is_complete:
                return None
            seconds = patience_s if patience_s < left_s else LOADING_S
            raise self._faults.stalled(seconds) from error
        except (httpx.HTTPError, OSError, OutOfBounds, *_NOT_CHAT):
            if completion.is_complete:
                return None
            raise

    def _answered(self, ask: Callable[[], Coroutine[Any, Any, T]]) -> Generator[Piece, None, T]:
        """Return the answer of the server; repeat the request while it loads its model."""
        deadline = time.monotonic() + LOADING_S
        while True:
            try:
                return (yield from self._awaited(ask(), FIRST_TOKEN_S))
            except Refused as error:
                if error.status != LOADING or time.monotonic() >= deadline:
                    raise
                retry_after = error.headers.get("Retry-After", "")
                seconds = float(retry_after) if retry_after.isdecimal() else RETRY_S
                wait_s = min(max(seconds, RETRY_S), LONGEST_RETRY_S)
            yield StillLoading()
            yield from self._awaited(asyncio.sleep(wait_s), wait_s + STALL_S)

    def _awaited(self, work: Coroutine[Any, Any, T], limit_s: float) -> Generator[str, None, T]:
        """Run steps(), with the time limit reported as a fault."""
        try:
            return (yield from self._steps.steps(work, limit_s))
        except TimeoutError as error:
            raise self._faults.stalled(limit_s) from error


@dataclass
class _Attempts:
    """Attempts for one reply. `below`: fewer messages than this fit before the question."""

    below: float = float("inf")
    repeated: bool = False
    listed: bool = False


def connect(settings: LanguageModelSettings, skills: Skills) -> ServerModel:
    """Return a model at the address in the settings; nothing is sent yet. ModelError."""
    return ServerModel(settings, Client(settings), skills)


def _drop_unoffered(pieces: Iterable[Piece], *, offers_tools: bool) -> Iterator[Piece]:
    """Drop calls of tools if the request offered none."""
    return (each for each in pieces if offers_tools or not isinstance(each, ToolCall))


async def _next(incoming: AsyncIterator[Event]) -> Event | None:
    """The next event; None at the end."""
    return await anext(incoming, None)
