"""The making of frames for several utterances in one step of the network: each has a slot, and the
weights are read once for all of them.

The temporal transformer computes the slots up to the last one that is due, since their memories lie
side by side; everything behind it computes only what is due. What depends on an utterance alone
(its phones, its codec's stream, the next window) stays with the utterance.
Invariant: what is computed for a slot does not depend on the other slots.
"""

import heapq
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.codec.mimi import Mimi
from engine.nn.cache import KvCache
from engine.nn.slot_cache import SlotCache
from engine.tts.voxtream.attention_window import NextWindow
from engine.tts.voxtream.config import ROWS
from engine.tts.voxtream.network.acoustic import AcousticSteps
from engine.tts.voxtream.network.frames import EagerFrames, Memory, spread
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.prompt import PreparedPrompt, Tables


class Slots:
    """Places for so many utterances at a time. Their temporal memories are made once: 31 MB each
    at full size.
    """

    def __init__(self, model: VoxtreamModel, tables: Tables, mimi: Mimi, count: int) -> None:
        config, device, dtype = model.config, model.device, model.dtype
        self._model, self._tables, self._mimi = model, tables, mimi
        self._free = list(range(count))  # a heap: low slots first, so that a step computes few
        rows, window = count * ROWS, config.audio_window
        self._cache = SlotCache(config.temporal, rows, window, device, dtype)
        self._columns = torch.zeros(rows, 1, config.width, device=device, dtype=dtype)
        self._depths: dict[int, KvCache | AcousticSteps] = {}  # by frames made at a time

    @property
    def free(self) -> int:
        """How many utterances may begin."""
        return len(self._free)

    def open(self, prompt: PreparedPrompt) -> "SlotFrames":
        """Take a slot, one of those that are free, until the frames are closed."""
        return SlotFrames(prompt, self._mimi, self, heapq.heappop(self._free))

    def draw(self, due: "Sequence[tuple[SlotFrames, Tensor]]") -> list[int]:
        """Finish the frames begun on, each with its controls; their duration tokens."""
        model, tables = self._model, self._tables
        hidden = self.hidden([frames.memory for frames, _ in due])
        joint = model.joint_logits(hidden)  # [F B, N, V]
        choices = [
            model.draw(own, spread(controls, model))
            for own, (_, controls) in zip(torch.split(joint, ROWS), due, strict=True)
        ]
        speakers = torch.cat([frames.prompt.speaker for frames, _ in due])
        codes = torch.cat([choice.code for choice in choices])
        if len(due) not in self._depths:
            self._depths[len(due)] = model.acoustic_memory(len(due))
        depth = self._depths[len(due)]
        acoustic = model.acoustic_codes(hidden + speakers, codes, tables.depth, depth)
        made = zip(due, choices, torch.split(acoustic, 1), strict=True)
        return [frames.take(choice, own) for (frames, _), choice, own in made]

    def hidden(self, memories: "Sequence[SlotMemory]") -> Tensor:
        """Hidden [F B, D] of the columns begun on."""
        cache = self._cache
        due = torch.tensor([row for memory in memories for row in memory.rows])
        rows = int(due.max()) + 1
        due = due.to(self._columns.device)
        rotation = cache.rotation(self._tables.temporal, rows)
        hidden = self._model.advance(self._columns[:rows], rotation, cache, cache.mask(rows))
        cache.advance(due)
        for memory in memories:
            memory.see()
        return hidden[due]

    @property
    def window(self) -> int:
        """Columns that a row can hold."""
        return self._model.config.audio_window

    def load(self, rows: range, cache: KvCache) -> None:
        """Replace what the rows remember."""
        self._cache.load(rows.start, cache)

    def column(self, rows: range) -> Tensor:
        """Where the rows' next column [B, D] belongs."""
        return self._columns[rows.start : rows.stop, 0]

    def next_window(self, prompt: KvCache) -> NextWindow:
        return NextWindow(self._model, self._tables.temporal, prompt, self.window)

    def give_back(self, slot: int) -> None:
        heapq.heappush(self._free, slot)


class SlotFrames(EagerFrames):
    """The frames of one utterance in its slot; draw() alone, or Slots.draw() with others."""

    def __init__(self, prompt: PreparedPrompt, mimi: Mimi, slots: Slots, slot: int) -> None:
        super().__init__(prompt, mimi)
        self._slots, self._slot = slots, slot

    @property
    def memory(self) -> "SlotMemory":
        assert isinstance(self._memory, SlotMemory), "first() comes first"
        return self._memory

    def close(self) -> None:
        super().close()
        self._slots.give_back(self._slot)

    def _remembered(self, cache: KvCache) -> Memory:
        first = self._slot * ROWS
        return SlotMemory(self._slots, range(first, first + ROWS), cache)


class SlotMemory:
    """The temporal transformer's memory of one utterance, in rows beside those of others."""

    def __init__(self, slots: Slots, rows: range, prompt: KvCache) -> None:
        self.rows = rows
        self._slots = slots
        self._next = slots.next_window(prompt)
        self._length = 0
        self._load(prompt)

    def start(self, column: Tensor) -> None:
        """See Memory."""
        if self._length >= self._slots.window:
            self._load(self._next.take())
        self._slots.column(self.rows).copy_(column)

    def finish(self) -> Tensor:
        """See Memory; nobody else's column is computed."""
        return self._slots.hidden([self])

    def settle(self) -> None:
        """See Memory; of a column nothing is computed before it is waited for."""
        self._next.give_up()

    def see(self) -> None:
        """The column begun on was computed."""
        self._length += 1
        self._next.see(self._slots.column(self.rows).clone(), self._length)

    def _load(self, cache: KvCache) -> None:
        self._length = cache.length
        self._slots.load(self.rows, cache)
