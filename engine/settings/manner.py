"""How one text is to be said by `rubato say`: for that text, in place of the settings."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Manner:
    """How one text is to be said. None = as in the settings; `out` None = through the loudspeaker.

    `voice` is a name or a file, `rate_plan` looks like "0:2,3:6" (seconds:SPS), `out` is a WAV to
    make.
    """

    voice: str | None = None
    rate_plan: str | None = None
    word_delay_ms: float = 0.0
    out: Path | None = None
