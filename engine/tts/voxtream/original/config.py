"""What VoXtream's weights and its generation fix, named once with the number's source.

The shapes are a ModelConfig as VoXtream2's: the same three stacks. "VoXtream, 2" is a section of
its paper; "released" is the value its published settings carry where the paper says less.
Invariant: nothing here depends on a rate: the system has none.
"""

from dataclasses import dataclass
from typing import Final

from engine.tts.voxtream.config import DURATION_TOKENS, NEVER

NAME: Final = "voxtream"
# Stay or move on by one phone; one or two phones a frame (VoXtream, 2). VoXtream2 can skip one.
TOKENS: Final = DURATION_TOKENS[:4]
SPECIAL_CODES: Final = 1  # padding only; without guidance no second one is needed


@dataclass(frozen=True)
class Generation:
    """Constants of generation."""

    temperature: float = 0.9  # released
    top: int = 5  # labels drawn from, and acoustic codes; released
    look_ahead: int = 10  # phones; with so many known, no frame waits for a word (VoXtream, 2)
    end_frames: int = 5  # at most so many follow the first one on the closing silence; released
    held_frames: int = 25  # a phone is left after so many: ours, the released loop has no limit
    passage_frames: int = NEVER  # after so many, a new passage begins with the next sentence: ours


MIN_LOOK_AHEAD: Final = 1  # phone; without it a frame has to wait (VoXtream, 2)
METER_FRAMES: Final = 38  # 3 s, of the rate that is measured
