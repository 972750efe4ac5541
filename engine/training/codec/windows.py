"""A corpus end to end on the device, from which windows are cut by their places alone.

Invariant: a window holds one utterance, with silence before its beginning and after its end.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.small_parts import HOP
from engine.training.codec.speech import SLOT, Spoken
from engine.training.corpus.pitch import AHEAD, PitchTrack, pitch_track

SLOT_COLUMNS: Final = SLOT // HOP


@dataclass(frozen=True)
class Cut:
    """Windows side by side: samples [B, lead + S], and of the last S of them the sounds of their
    slots [B, S / SLOT] and their pitch; the numbers [B] of who speaks.
    """

    pcm: Tensor
    slots: Tensor
    track: PitchTrack
    speakers: Tensor


class Windows:
    """Utterances to cut windows from."""

    def __init__(
        self, side: Sequence[Spoken], frames: int, lead: int, device: torch.device
    ) -> None:
        """Windows have so many codec frames, with `lead` slots before them."""
        self._count, self._lead = frames * FRAME_SAMPLES // SLOT, lead
        sizes = [max(self._count, -(-len(each.pcm) // SLOT)) for each in side]
        begins = [lead + last - size for last, size in zip(accumulate(sizes), sizes, strict=True)]
        begins = [begin + lead * place for place, begin in enumerate(begins)]
        total = begins[-1] + sizes[-1]
        pcm = torch.zeros(total * SLOT, dtype=torch.int16)
        slots = torch.zeros(total, dtype=torch.uint8)
        pitch = torch.zeros(2, total * SLOT_COLUMNS)  # log Hz, weight
        for each, begin, size in zip(side, begins, sizes, strict=True):
            pcm[begin * SLOT :][: len(each.pcm)] = torch.from_numpy(each.pcm)
            slots[begin : begin + size] = each.slots(0, size * SLOT)
            columns = slice(begin * SLOT_COLUMNS, (begin + size) * SLOT_COLUMNS)
            pitch[:, columns] = _pitch(each, size * SLOT_COLUMNS)
        self._pcm, self._slots, self._pitch = pcm.to(device), slots.to(device), pitch.to(device)
        last = [size - self._count + 1 for size in sizes]
        starts = [torch.arange(b, b + n) for b, n in zip(begins, last, strict=True)]
        who = torch.tensor([each.entry.speaker for each in side])
        self._starts = torch.cat(starts)
        self._speakers = who.repeat_interleave(torch.tensor(last))

    def cut(self, draw: random.Random, count: int) -> Cut:
        """So many windows; every place is as likely as any other."""
        chosen = torch.tensor(draw.choices(range(len(self._starts)), k=count))
        device, speakers = self._pcm.device, self._speakers[chosen]
        starts = self._starts[chosen].to(device)[:, None]
        slots = starts + torch.arange(self._count, device=device)
        columns = starts * SLOT_COLUMNS + torch.arange(self._count * SLOT_COLUMNS, device=device)
        samples = starts * SLOT + torch.arange(
            -self._lead * SLOT, self._count * SLOT, device=device
        )
        log_hz, weight = self._pitch[:, columns]
        return Cut(
            self._pcm[samples].float() / 32768,
            self._slots[slots].long(),
            PitchTrack(log_hz, weight),
            speakers.to(device),
        )


def _pitch(utterance: Spoken, columns: int) -> Tensor:
    """Log Hz and weight [2, T] that a decoder should set."""
    track = pitch_track(utterance)
    missing = max(0, columns + AHEAD - len(track.log_hz))
    log_hz = functional.pad(track.log_hz[None, None], (0, missing), mode="replicate")[0, 0]
    both = torch.stack((log_hz, functional.pad(track.weight, (0, missing))))
    return both[:, AHEAD : AHEAD + columns]
