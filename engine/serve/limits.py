"""What one server gives, and how much of it a client may take.

Invariant: everything that a client can send, hold or wait for has a bound here.
"""

from dataclasses import dataclass
from typing import Final

SAMPLE_RATE: Final = 24_000  # Hz of all speech that leaves a server
LEAD_MS: Final = 240  # as in the window: so late a new rate is heard, at most


@dataclass(frozen=True)
class Limits:
    """`slots`: utterances that are spoken at once; more wait, up to `queue`. Texts in characters,
    times in seconds, `body_bytes` of a request, `message_bytes` of one WebSocket message.
    """

    slots: int = 2
    queue: int = 8
    text: int = 4_096  # of one request, as OpenAI's
    streamed_text: int = 32_768  # of one utterance that is written while it is spoken
    body_bytes: int = 10 << 20
    message_bytes: int = 1 << 20
    body_s: float = 30.0  # for a request to arrive
    idle_s: float = 60.0  # for more words, the end of a pause, or the next message
    write_s: float = 15.0  # for a client to read what was sent
    late_s: float = 30.0  # so far behind its own sound, an utterance gives way to those that wait
    retry_s: int = 5  # told to those who find the queue full
