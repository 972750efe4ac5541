"""What the person is told when a part does not load, whatever its library raised.

Invariant: a part that cannot be loaded is a ModelError or another of our own errors, never a
library's; so something that needs no download can always stand in.
"""

import logging

from engine.errors import EngineError, ModelError
from engine.messages import Part

logger = logging.getLogger(__name__)


def unloaded(part: Part, error: Exception) -> EngineError:
    """`error` itself when it is one of ours; else one that says so, and the rest is logged."""
    if isinstance(error, EngineError):
        return error
    logger.error("part did not load part=%s", part.value, exc_info=error)
    return ModelError(
        f"The {part.value} could not be loaded: {error}.",
        hint="Run `rubato doctor` to see what is missing, or choose another in the settings.",
    )
