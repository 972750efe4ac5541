"""The ranges within which the numbers of a checkpoint or a voice pack make sense.

Invariant: what passes can be built and run; what does not is named with what was expected.
"""

from typing import Final

from engine.tts.pack_files import STACK, Limits

# The published model lies well inside. At most 251 columns are a prompt's, which the window must
# hold; phone ids up to 124 have a meaning of their own.
LIMITS: Final[Limits] = {
    **STACK,
    "phone_vocabulary": (125, 65_536),
    "audio_vocabulary": (3, 65_536),
    "special_codes": (1, 2),
    "codebooks": (2, 32),
    "speaker_width": (1, 4_096),
    "duration_tokens": (1, 64),
    "max_look_ahead": (1, 25),
    "audio_window": (256, 10_000),
    "phone_window": (256, 10_000),
    "temperature": (0.01, 100),
    "nucleus": (0.01, 1),
    "top_codes": (1, 65_536),
    "semantic_guidance": (0, 100),
    "acoustic_guidance": (0, 100),
    "speaker_weight": (0, 100),
    "min_look_ahead": (1, 100),
    "rate_window_frames": (1, 10_000),
    "repeats_before_push": (1, 10_000),
    "repeats_at_end": (1, 10_000),
    "acoustic_delay": (1, 1),
    "passage_frames": (1, 999_999),
    "own_rate": (0, 100),
    "lowest_rate": (0, 100),
    "highest_rate": (0.1, 100),
    "frames_heard": (0, 250),
    "frames_in_word": (1, 999_999),
    "rate": (0.1, 100),  # SPS
    "counts": (1, 1_000_000),
    "weight": (0, 1_000),
    "guidance": (0, 100),
}
