"""A frame has the same samples in every window, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.tts.kokoro.plan import Plan
from engine.tts.kokoro.windows import render
from tests.engine.tts.kokoro.small import small_parts
from tests.engine.tts.kokoro.words import learnt, phoned, planned, wish


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(wish(phoned("One was right, it is late.")))


@pytest.fixture(scope="module")
def whole(plan) -> np.ndarray:
    return render(small_parts(), learnt().given, plan, 0, len(plan.features))


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0, 1), max_size=6), st.integers(1, 5))
def test_any_windows_join_to_the_same_samples(plan, whole, shares, width) -> None:
    """Some windows anywhere, and small ones at the start, where a session's first are."""
    total = len(plan.features)
    cuts = {0, width, 2 * width, total - width, total, *(int(share * total) for share in shares)}
    ends = sorted(cuts)
    parts = [
        render(small_parts(), learnt().given, plan, first, last) for first, last in pairwise(ends)
    ]
    assert np.array_equal(np.concatenate(parts), whole)
