"""The events of a client of the Realtime interface."""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from engine.serve.doors.conversation import Conversation, Item, Message
from engine.serve.doors.requests import Refusal, Text, Wire

_LONGEST_MS: Final = 3_600_000
_MOST_METADATA: Final = 16


class Reference(Wire):
    """A reference to an item of the conversation."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["item_reference"]
    id: Text


class ResponseOptions(Wire):
    """Settings of one response, beside those of the session. `conversation` "none": the answer does
    not become part of the conversation; `input`: items to answer instead of it.
    """

    conversation: Literal["auto", "none"] = "auto"
    input: list[Annotated[Item | Reference, Field(discriminator="type")]] | None = None
    metadata: Annotated[dict[str, str], Field(max_length=_MOST_METADATA)] | None = None

    def context(self, conversation: Conversation) -> Conversation:
        """Return the items to answer. Refusal of items that cannot be used."""
        if self.input is None:
            return conversation
        context = Conversation()
        for item in self.input:
            if isinstance(item, Message) and item.unheard():
                raise Refusal(
                    "Sound is not allowed here.",
                    field="input",
                    hint="Create an item of the conversation, and refer to it.",
                )
            context.add(conversation.find(item.id) if isinstance(item, Reference) else item)
        return context


class ClientEvent(Wire):
    """A client's event; which fields count depends on its type. `audio` in base64."""

    type: Literal[
        "session.update",
        "input_audio_buffer.append",
        "input_audio_buffer.commit",
        "input_audio_buffer.clear",
        "conversation.item.create",
        "conversation.item.retrieve",
        "conversation.item.truncate",
        "conversation.item.delete",
        "response.create",
        "response.cancel",
    ]
    session: dict[str, Any] = Field(default={})
    response: dict[str, Any] = Field(default={})
    audio: str = ""
    item: Item | None = Field(default=None, discriminator="type")
    previous_item_id: Text | None = None
    item_id: Text = ""
    audio_end_ms: float = Field(0, ge=0, le=_LONGEST_MS)
