"""The check whether this processor adds products of signed bytes exactly."""

from typing import Any

import numpy as np


def sums_exactly(probe: Any) -> bool:
    """Run a session of products.probe(): True if this processor adds signed products exactly."""
    entry = probe.get_inputs()[0]
    return bool(probe.run(None, {entry.name: np.full(entry.shape, 255, np.uint8)})[0].item())
