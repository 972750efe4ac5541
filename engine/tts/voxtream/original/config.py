"""What VoXtream's weights and its generation fix, named once with the number's source.

The shapes are a ModelConfig as VoXtream2's: the same three stacks. "VoXtream, 2" is a section of
its paper; "released" is the value its published settings carry where the paper says less.
Invariant: nothing here depends on a rate: the system has none.
"""

from dataclasses import dataclass
from typing import Final

from engine.tts.phones import BOS, EOS, SILENCE
from engine.tts.voxtream.config import DURATION_TOKENS, NEVER, ModelConfig
from engine.tts.voxtream.config import STACKS as STACKS

NAME: Final = "voxtream"
# Stay or move on by one phone; one or two phones a frame (VoXtream, 2). VoXtream2 can skip one.
TOKENS: Final = DURATION_TOKENS[:4]
SPECIAL_CODES: Final = 1  # padding only; without guidance no second one is needed


@dataclass(frozen=True)
class SpecialPhones:
    """Ids of phones that no word has: before the prompt, after the text, and after that."""

    bos: int
    silence: int
    eos: int


OURS: Final = SpecialPhones(BOS, SILENCE, EOS)
PUBLISHED: Final = SpecialPhones(bos=71, silence=69, eos=72)  # released

SHAPE: Final = ModelConfig(
    phone=STACKS["phone_former"],
    temporal=STACKS["temp_former"],
    depth=STACKS["dep_former_csm"],
    phone_vocabulary=73,
    audio_vocabulary=2048 + SPECIAL_CODES,
    codebooks=12,  # VoXtream, 2
    duration_tokens=len(TOKENS),
    max_look_ahead=2,  # a layer, released: six layers see 12 phones ahead, the paper says 10
    audio_window=250,  # 20 s, released
    phone_window=350,
    special_codes=SPECIAL_CODES,
)


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
