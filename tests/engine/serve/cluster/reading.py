"""A client that reads a text aloud to its end, whatever becomes of the replica that speaks it.

It knows which words it has whole, because the server tells where in the sound each word begins.
When the connection breaks it connects again, and says from which place of the text and at which
rate to go on. Invariant: every word of the text is in exactly one piece, in order.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from engine.errors import Busy, EngineError, SynthesisError
from engine.serve.service import LEAD_MS, SAMPLE_RATE

_SAMPLE_BYTES: Final = 2
_PATIENCE_S: Final = 1.0  # before it connects again
_TRIES: Final = 120  # without a word in between


@dataclass(frozen=True)
class Piece:
    """Some words whole: their sound (16 bits at SAMPLE_RATE), and their text with what is around
    it.
    """

    pcm: bytes
    text: str


@dataclass(frozen=True)
class Manner:
    """How to be read to. `rate` in SPS, None = the voice's own; `lead_ms`: how far the server may
    be ahead of a listener.
    """

    voice: str = ""
    rate: float | None = None
    lead_ms: int = LEAD_MS


class Reading:
    """One text, without pace tags."""

    def __init__(
        self,
        address: str,
        text: str,
        manner: Manner,
        *,
        token: str = "",
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`address`: ws://host:port of a server; `wait`: between two connections, seconds."""
        self.losses = 0  # connections that broke
        self._address = f"{address}/v1/audio/speech/stream"
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._text = text
        self._manner = manner
        self._wait = wait
        self._position = 0  # of the first word that is not in a piece yet
        self._connection: ClientConnection | None = None

    async def change_rate(self, rate: float | None) -> None:
        """From now on; also behind the next loss. SPS."""
        self._manner = replace(self._manner, rate=rate)
        if self._connection is not None:
            await _send(self._connection, "session.update", rate=rate)

    async def pieces(self) -> AsyncIterator[Piece]:
        """The speech. Busy when there is no place for long, SynthesisError when the server says
        that it cannot, ConnectionError when there is none.
        """
        failures = 0
        while self._position < len(self._text):
            try:
                async with connect(
                    self._address, additional_headers=self._headers, close_timeout=_PATIENCE_S
                ) as connection:
                    self._connection = connection
                    async for piece in self._spoken(connection):
                        failures = 0
                        yield piece
            except (ConnectionClosed, InvalidHandshake, OSError, Busy) as error:
                self.losses += not isinstance(error, Busy)
                failures += 1
                if failures >= _TRIES:
                    raise
                await self._wait(_PATIENCE_S)
            finally:
                self._connection = None

    async def _spoken(self, connection: ClientConnection) -> AsyncIterator[Piece]:
        """The rest of the text, as far as the connection lasts."""
        await _send(connection, "session.config", response_format="pcm", **asdict(self._manner))
        await _send(connection, "input.text", text=self._text[self._position :])
        await _send(connection, "input.done")
        words = _Words(self._position)
        async for message in connection:
            if isinstance(message, bytes):
                words.sound += message
                continue
            event = json.loads(message)
            match event["type"]:
                case "word":
                    if (end := words.begin(event)) is not None:
                        yield self._piece(words.take(event["at_ms"]), end)
                case "audio.done":
                    yield self._piece(bytes(words.sound), len(self._text))
                    return
                case "error":
                    raise _error(event["error"])
        raise ConnectionError("the server hung up")

    def _piece(self, pcm: bytes, end: int) -> Piece:
        start, self._position = self._position, end
        return Piece(pcm, self._text[start:end])


class _Words:
    """The sound that came, and the last word that began in it."""

    def __init__(self, start: int) -> None:
        self.sound = bytearray()
        self._start = start  # of what was asked for, in the whole text
        self._end = 0  # of the last word, in what was asked for
        self._taken = 0  # samples

    def begin(self, word: dict[str, Any]) -> int | None:
        """A word begins: the place in the whole text up to which all words are whole now. None for
        the first one, and for one that stands for the same text as the one before.
        """
        first, same = self._end == 0, word["start"] < self._end
        self._end = max(self._end, word["end"])
        return None if first or same else self._start + word["start"]

    def take(self, at_ms: int) -> bytes:
        """The sound before this moment that was not taken yet."""
        samples = at_ms * SAMPLE_RATE // 1000
        size = (samples - self._taken) * _SAMPLE_BYTES
        taken, self._taken = bytes(self.sound[:size]), samples
        del self.sound[:size]
        return taken


def _error(fault: dict[str, Any]) -> EngineError:
    kind = Busy if fault.get("code") == Busy.code else SynthesisError
    return kind(fault["message"])


async def _send(connection: ClientConnection, kind: str, **fields: Any) -> None:
    await connection.send(json.dumps({"type": kind, **fields}))
