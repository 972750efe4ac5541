"""Several utterances that speak at the same time, one step of the network for all of them.

The weights of a frame are read from memory once, however many utterances it is made for. At full
size in 8 bits, on two cores with much other work (tests/benchmarks/slot_batch.py), an utterance's
frame took 295, 306, 328 and 355 ms of CPU where 1, 2, 4 and 8 of them were stepped in turn, and
288, 206, 185 and 194 ms in a batch. Alone, one is better off outside: there its next frame is begun
on while the codec sounds the last. Utterances begin and end at any step; each keeps its own words,
rate and randomness.
Invariant: an utterance's samples depend on its own voice, seed, words and rates alone.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch

from engine.tts.base import Step, Voice
from engine.tts.voxtream.network.slots import SlotFrames, Slots
from engine.tts.voxtream.prompt import PreparedPrompt, Tables
from engine.tts.voxtream.session import ModelParts, VoxtreamSession


class SlotBatch:
    """Opens up to `slots` sessions at a time. Used from one thread."""

    def __init__(
        self,
        parts: ModelParts,
        tables: Tables,
        prepared: Callable[[Voice], PreparedPrompt],
        slots: int,
    ) -> None:
        self._parts = parts
        self._prepared = prepared
        self._slots = Slots(parts.model, tables, parts.mimi, slots)

    @property
    def free(self) -> int:
        """How many sessions may be opened now."""
        return self._slots.free

    @torch.inference_mode()
    def open(self, voice: Voice, *, seed: int) -> VoxtreamSession:
        """A session that holds a slot until it is closed; there must be a free one. It may also be
        stepped alone.
        """
        prompt = self._prepared(voice)
        return VoxtreamSession(self._parts, prompt, partial(self._slots.open, prompt), seed)

    @torch.inference_mode()
    def step(self, sessions: Sequence[VoxtreamSession]) -> list[Step]:
        """What step() of each of these different sessions gives, in their order."""
        steps: dict[int, Step] = {}
        while len(steps) < len(sessions):
            due: list[VoxtreamSession] = []
            waiting = (session for session in sessions if id(session) not in steps)
            for session in waiting:
                if (step := session.until_due()) is None:
                    due.append(session)
                else:
                    steps[id(session)] = step
            for session, token in zip(due, self._draw(due), strict=True):
                if (frame := session.heard(token)) is not None:
                    steps[id(session)] = frame
        return [steps[id(session)] for session in sessions]

    def _draw(self, due: Sequence[VoxtreamSession]) -> list[int]:
        """The duration tokens of their next frames."""
        drawn = []
        for session in due:
            controls, frames = session.due(), session.frames
            assert isinstance(frames, SlotFrames), "a session of another batch"
            drawn.append((frames, controls))
        return self._slots.draw(drawn) if drawn else []
