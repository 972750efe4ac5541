"""Any OpenAI-compatible server: llama-server, Ollama, LM Studio, vLLM, or one far away.

Invariant: every wait is bounded and can be stopped within a slice (see stepped.py), and what is
read is bounded too (see bounds.py). Everything is sent only to the address in the settings, and
only once, except that a server that does not support tools is asked again without them, and one
that is still loading its model until it has. Nothing private is sent to another computer.
"""

import asyncio
import ipaddress
import json
import os
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
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from engine.characters import whole
from engine.errors import ModelError
from engine.llm.base import Delta, LanguageModelInfo, Message, Situation, StillLoading
from engine.llm.history import ChatMessage, trimmed
from engine.llm.servers.completion import Completion, Reported
from engine.llm.servers.events import EVENT_STREAM, Event, events
from engine.llm.servers.faults import LOADING, ServerFaults, is_about_tools
from engine.llm.servers.stepped import Steps
from engine.llm.skills import Skills
from engine.llm.tools import rounds
from engine.llm.tools.rounds import Piece
from engine.llm.tools.toolbox import ToolCall, ToolSchema, schemas
from engine.settings import LanguageModelSettings

if TYPE_CHECKING:
    import openai

CONNECT_S = 3.0  # a server on this computer or network answers in milliseconds, or not at all
# A large model on a slow machine may have to be loaded first, or read a long conversation.
FIRST_TOKEN_S = 30.0
LOADING_S = 300.0  # a large model on a slow disk; the person sees that it loads, and may end it
RETRY_S, LONGEST_RETRY_S = 1.0, 10.0
STALL_S = 15.0  # between tokens; in a conversation nobody waits longer
# Including thoughts. Nearly an hour of speech; a server that sends more is broken.
MAX_REPLY_CHARS = 50_000
MAX_NAME_CHARS = 200  # of a model

# Only the server knows how many tokens a text has. Three characters for each are on the safe side
# for European languages (which have about four), plus what a template adds to a message.
CHARS_PER_TOKEN = 3
TOKENS_AROUND_MESSAGE = 8
REPLY_TOKENS = 512

T = TypeVar("T")

NO_KEY = "none"  # the client insists on a key; servers that need none ignore it


class ServerModel:
    """A LanguageModel behind an address. Connects at the first reply, not before."""

    def __init__(
        self, settings: LanguageModelSettings, client: "openai.AsyncOpenAI", skills: Skills
    ) -> None:
        self._settings = settings
        self._client = client
        self._skills = skills
        self._steps = Steps()
        self._faults = ServerFaults(settings.address, settings.key_variable)
        self._model = settings.model
        self._knows_tools = True
        self._begins_thinking = False  # the prompt opens a thought, as the last reply showed

    @property
    def info(self) -> LanguageModelInfo:
        model = self._model or "the server's model"
        return LanguageModelInfo("server", f"{model} at {self._settings.address}")

    def reply(
        self, history: Sequence[Message], situation: Callable[[], Situation]
    ) -> Generator[Delta, None, None]:
        prompt = self._settings.system_prompt
        remote = not _is_loopback(_host(self._settings.address))
        return rounds.reply(self.complete, self._skills, prompt, history, situation, remote=remote)

    def warm(self, history: Sequence[Message]) -> Generator[None, None, None]:
        """Nothing to do: servers cache prompts themselves, and an extra request might cost
        money."""
        yield from ()

    def adjust(self, settings: LanguageModelSettings) -> None:
        """Everything except the address, which decides what the server may be told."""
        self._settings = replace(settings, address=self._settings.address)

    def close(self) -> None:
        self._steps.finish(self._client.close())
        self._steps.close()

    def complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema] | None = None
    ) -> Generator[Piece, None, None]:
        """One completion. `tools` None: the skills'. Raises LanguageModelError."""
        import httpx2  # openai's transport; imported by connect() already
        import openai

        from engine.llm.servers.bounds import OutOfBounds

        fitting = trimmed(messages, self._fits)
        try:
            yield from self._name_model()
            yield from self._complete(fitting, schemas() if tools is None else tools)
        except openai.APIStatusError as error:
            raise self._faults.status(error, self._model) from error
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
                raise self._faults.unreachable() from error
            raise self._faults.broken_off() from error
        except (httpx2.HTTPError, OSError) as error:
            raise self._faults.broken_off() from error
        except Reported as error:
            raise self._faults.reported(str(error)) from error
        except OutOfBounds as error:
            raise self._faults.out_of_bounds() from error
        except _not_chat() as error:
            raise self._faults.garbled() from error

    def _name_model(self) -> Generator[Piece, None, None]:
        """Without a name in the settings, the first model the server lists."""
        if not self._model:
            self._model = yield from self._answered(self._first_model)

    async def _first_model(self) -> str:
        page = await self._client.models.list()
        return str(page.data[0].id)[:MAX_NAME_CHARS]

    def _complete(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema]
    ) -> Generator[Piece, None, None]:
        import openai

        try:
            stream = yield from self._answered(partial(self._open, messages, tools))
        except openai.APIStatusError as error:
            if not (self._knows_tools and is_about_tools(error)):
                raise
            self._knows_tools = False
            stream = yield from self._answered(partial(self._open, messages, tools))
        try:
            yield from self._pieces(stream)
        finally:
            with suppress(OSError, openai.OpenAIError):
                self._steps.finish(stream.close())

    async def _open(
        self, messages: list[ChatMessage], tools: Sequence[ToolSchema]
    ) -> "openai.AsyncStream[Any]":
        request: dict[str, Any] = {
            "model": self._model,
            "messages": json.loads(whole(json.dumps(messages, ensure_ascii=False))),
            "temperature": self._settings.temperature,
            "stream": True,
        }
        if self._knows_tools and tools:
            request["tools"] = list(tools)
        stream: openai.AsyncStream[Any] = await self._client.chat.completions.create(**request)
        return stream

    def _pieces(self, stream: "openai.AsyncStream[Any]") -> Generator[Piece, None, None]:
        """Text, thoughts and calls of one stream, which must end with a reason for ending."""
        completion = Completion(begins_thinking=self._begins_thinking, most=MAX_REPLY_CHARS)
        incoming = events(stream.response.aiter_bytes())
        limit_s = FIRST_TOKEN_S
        while (event := (yield from self._awaited(_next(incoming), limit_s))) is not None:
            limit_s = STALL_S
            yield ""  # after every event, so that a server that never pauses cannot block us
            yield from self._offered(completion.take(event))
            if completion.is_over:
                break
        if not completion.is_complete:
            kind = stream.response.headers.get("Content-Type", "").lower()
            streamed = kind.startswith(EVENT_STREAM) or completion.is_reply
            raise self._faults.broken_off() if streamed else self._faults.garbled()
        yield from self._offered(completion.end())
        self._begins_thinking = completion.begins_thinking

    def _offered(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Without calls of tools that the server was not told of."""
        return (each for each in pieces if self._knows_tools or not isinstance(each, ToolCall))

    def _answered(self, ask: Callable[[], Coroutine[Any, Any, T]]) -> Generator[Piece, None, T]:
        """What the server answers, asked again while it loads its model."""
        import openai

        deadline = time.monotonic() + LOADING_S
        while True:
            try:
                return (yield from self._awaited(ask(), FIRST_TOKEN_S))
            except openai.APIStatusError as error:
                if error.status_code != LOADING or time.monotonic() >= deadline:
                    raise
                retry_after = error.response.headers.get("Retry-After", "")
                seconds = float(retry_after) if retry_after.isdecimal() else RETRY_S
                wait_s = min(max(seconds, RETRY_S), LONGEST_RETRY_S)
            yield StillLoading()
            yield from self._awaited(asyncio.sleep(wait_s), wait_s + STALL_S)

    def _awaited(self, work: Coroutine[Any, Any, T], limit_s: float) -> Generator[str, None, T]:
        """steps(), with the time limit reported as a fault."""
        try:
            return (yield from self._steps.steps(work, limit_s))
        except TimeoutError as error:
            raise self._faults.stalled(limit_s) from error

    def _fits(self, messages: list[ChatMessage]) -> bool:
        chars = sum(len(str(message.get("content") or "")) for message in messages)
        tokens = chars / CHARS_PER_TOKEN + TOKENS_AROUND_MESSAGE * len(messages)
        budget = self._settings.context_tokens
        return tokens <= budget - min(REPLY_TOKENS, budget // 2)


def connect(settings: LanguageModelSettings, skills: Skills) -> ServerModel:
    """A model at the address in the settings; nothing is sent yet.

    Raises ModelError for an invalid address, and for a key variable that is empty.
    """
    # Imported here: more than a second of work (measured) that only this engine needs.
    import httpx2
    import openai

    from engine.llm.servers.bounds import UNCOMPRESSED, bound

    host = _host(settings.address)
    client = openai.AsyncOpenAI(
        base_url=settings.address,
        api_key=_key(settings.key_variable),
        max_retries=0,  # the person would ask again before a retry is over
        http_client=openai.DefaultAsyncHttpxClient(
            # A proxy for the internet cannot reach this computer's own address.
            trust_env=not _is_loopback(host),
            # Waiting for an answer is limited by _awaited(), which knows what it waits for.
            timeout=httpx2.Timeout(None, connect=CONNECT_S),
            follow_redirects=False,  # the conversation goes only where the person said
            event_hooks={"response": [bound]},
        ),
        default_headers={"Accept-Encoding": UNCOMPRESSED},
    )
    return ServerModel(settings, client, skills)


async def _next(incoming: AsyncIterator[Event]) -> Event | None:
    """The next event; None at the end."""
    return await anext(incoming, None)


def _not_chat() -> tuple[type[Exception], ...]:
    """The errors raised when an answer is not that of a chat server."""
    import openai

    ours = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
    return (openai.OpenAIError, *ours)


def _host(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ModelError(
            "'{address}' is not the address of a language-model server.",
            hint="It looks like http://127.0.0.1:8080/v1.",
            address=address,
        )
    return parts.hostname


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key(variable: str) -> str:
    if not variable:
        return NO_KEY
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(
            "The environment variable {name} holds no key for the language-model server.",
            hint="Set it before starting, or clear the variable's name in the settings.",
            name=variable,
        )
    return key
