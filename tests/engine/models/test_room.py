"""What fits is told from what does not."""

import pytest

from engine.models.listing import (
    MEGABYTES_A_CORE,
    OWN_MB,
    SYSTEM_SHARE,
    Machine,
    need_mb,
    this_machine,
)


def test_memory_counts_with_what_is_always_there():
    machine, most = Machine(8_000, 4), int(8_000 * (1 - SYSTEM_SHARE)) - OWN_MB
    assert machine.has_memory_for(most)
    assert not machine.has_memory_for(most + 1)


def test_more_cores_think_fast_with_more():
    size = 4 * MEGABYTES_A_CORE
    assert Machine(8_000, 4).thinks_fast_with(size)
    assert not Machine(8_000, 3).thinks_fast_with(size)


@pytest.mark.parametrize("kind", ["recogniser", "language model", "voice"])
def test_a_larger_model_needs_more(kind):
    assert 0 < need_mb(kind, 100) < need_mb(kind, 1000)


def test_nothing_is_said_of_what_nobody_knows():
    assert need_mb("codec", 100) == need_mb("voice", 0) == 0


def test_this_machine_is_described():
    machine = this_machine()
    assert machine.memory_mb > 100
    assert machine.cores >= 1
    assert str(Machine(15_800, 8)) == "16 GB of memory, 8 cores"
