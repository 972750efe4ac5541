"""The tools of Rubato for agents that speak MCP: over the standard streams of a process of its own,
or at /mcp.

Invariant: an agent may let this machine speak, and listen once; it learns nothing else of it.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from engine.errors import EngineError
from engine.serve.room import Room
from engine.serve.service import Service
from engine.settings import FASTEST, SLOWEST

_ABOUT: Final = "Speaks through this computer's loudspeaker and hears through its microphone."
_LONGEST_S: Final = 120.0

Rate = Annotated[float | None, Field(ge=SLOWEST, le=FASTEST, description="Syllables a second.")]
Tool = Callable[..., Awaitable[str]]


class _Tools:
    """The documentation of a tool is what agents read."""

    def __init__(self, service: Service, room: Room) -> None:
        self._service = service
        self._room = room

    def all(self) -> tuple[Tool, ...]:
        speaking = (self.speak, self.set_rate, self.stop, self.pause, self.resume, self.skip)
        return (*speaking, self.list_voices, self.listen_once)

    async def speak(self, text: str, voice: str = "", rate: Rate = None, wait: bool = False) -> str:
        """Say a text aloud, after what is being said. With wait, answer once it was said."""
        await self._service.check_voice(voice)
        self._room.say(text, voice, rate)
        if wait:
            await self._room.said()
        return "It was said." if wait else "It is being said."

    async def set_rate(self, rate: Rate = None) -> str:
        """Change the pace at once, within the very sentence. Without a rate: as the person set."""
        self._room.set_rate(rate)
        return "That is the pace from now on."

    async def stop(self) -> str:
        """Be silent, and forget what waits to be said."""
        await self._room.stop()
        return "Nothing is being said."

    async def pause(self) -> str:
        """Hold what is being said; resume goes on."""
        self._room.pause()
        return "It waits."

    async def resume(self) -> str:
        """Go on where pause held."""
        self._room.resume()
        return "It goes on."

    async def skip(self, sentences: int = 1) -> str:
        """Go on some sentences later, or before with a negative number; 0 repeats this one."""
        self._room.skip(sentences)
        return "It goes on there."

    async def list_voices(self) -> str:
        """The names of the voices, one a line."""
        return "\n".join(await self._service.voices())

    async def listen_once(
        self, seconds: Annotated[float, Field(gt=0, le=_LONGEST_S)] = 30.0
    ) -> str:
        """Hear what the person says next, as text; empty when nobody speaks in time."""
        return await self._room.listen(seconds)


def agents_server(service: Service, room: Room) -> MCPServer:
    """A server of these tools."""
    server = MCPServer("rubato", instructions=_ABOUT, log_level="ERROR")
    for tool in _Tools(service, room).all():
        server.tool()(_telling(tool))
    return server


def _telling(tool: Tool) -> Tool:
    """With faults in the words that are for the person."""

    @wraps(tool)
    async def telling(*given: object, **named: object) -> str:
        try:
            return await tool(*given, **named)
        except EngineError as error:
            raise ToolError(str(error)) from error

    return telling
