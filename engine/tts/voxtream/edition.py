"""The published editions of VoXtream2, each with the settings that are not in its files.

Invariant: an edition's weights never speak with the settings of another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from engine.tts.voxtream.config import GENERATION, VOXTREAM2_SHAPE, VoxtreamGeneration
from engine.tts.voxtream.files.paths import VOXTREAM2, VOXTREAM2_1
from engine.tts.voxtream.rate import PER_DECADE, RATE_TABLE, RateTarget

# The released loop speaks at most 750 frames (60 s), and people hear repeats beyond 500 characters
# (25 s): after 20 s the next sentence begins from the prompt alone.
PASSAGE_FRAMES: Final = 250


@dataclass(frozen=True)
class Edition:
    """A published edition. `name`: of its model and of its asset. `rates`: the rate table by SPS.
    `bends_logits`: a rate changes the logits before the temperature, not the probabilities after
    it. `loudness`: of every prompt, in LUFS; None = as recorded.
    """

    name: str
    generation: VoxtreamGeneration
    rates: Mapping[float, RateTarget]
    bends_logits: bool = False
    loudness: float | None = None

    def tempered(self, generation: VoxtreamGeneration) -> "Edition":
        """Return the edition with these constants. Their temperature determines the scale of the
        rate's bias.
        """
        scale = 1 / generation.temperature if self.bends_logits else PER_DECADE
        return replace(self, generation=replace(generation, pull_scale=scale))


def _eased(rates: Mapping[float, RateTarget], scale: float) -> Mapping[float, RateTarget]:
    """Convert a rate table for common logarithms to one for natural logarithms times `scale`, with
    the same effect.
    """
    return {
        rate: replace(target, weight=target.weight * PER_DECADE / scale)
        for rate, target in rates.items()
    }


_GENERATION: Final = replace(
    GENERATION, look_ahead=VOXTREAM2_SHAPE.look_ahead, passage_frames=PASSAGE_FRAMES
)
# The table and the loudness of 2.1 are not in a file that could be read here. Its table is that of
# 2.0 with weights of the same effect, its loudness that of EBU R 128, until its folder holds a
# speaking_rate.json and a generator.json.
EDITIONS: Final = {
    edition.name: edition.tempered(edition.generation)
    for edition in (
        Edition(
            VOXTREAM2_1,
            _GENERATION,
            _eased(RATE_TABLE, 1 / _GENERATION.temperature),
            bends_logits=True,
            loudness=-23.0,
        ),
        Edition(VOXTREAM2, _GENERATION, RATE_TABLE),
    )
}
