"""The ring between a writer and a consumer."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.audio.devices.ring import Ring, power_of_two


def _write(ring: Ring, pcm: np.ndarray, position: int) -> None:
    places = np.arange(position, position + len(pcm)) % len(ring.memory)
    ring.memory[places, 0] = pcm
    ring.publish(len(pcm))


@given(st.lists(st.tuples(st.integers(0, 64), st.integers(0, 80)), max_size=40))
def test_samples_come_out_as_they_went_in_whatever_the_chunks(
    chunks: list[tuple[int, int]],
) -> None:
    ring = Ring(64)
    written = read = 0
    for wanted, asked in chunks:
        fits = min(wanted, 64 - ring.unread)
        _write(ring, np.arange(written, written + fits), written)
        written += fits
        out = np.full(asked, -1, np.float32)
        got = ring.read_into(out)
        assert got == min(asked, written - read)
        assert out[:got].tolist() == list(range(read, read + got))
        assert (out[got:] == -1).all()
        read += got
    assert ring.unread == written - read


@given(st.integers(1, 1 << 20))
def test_the_size_is_the_next_power_of_two(samples: int) -> None:
    size = power_of_two(samples)
    assert samples <= size < 2 * samples
    assert size & (size - 1) == 0
