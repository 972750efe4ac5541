"""A fetch's progress counts all files of all that is needed."""

import pytest

from engine.errors import Cancelled
from engine.models import storage
from tests.engine.models.small_catalogue import FILE_BYTES


def never() -> bool:
    return False


def test_a_fetch_goes_on_from_where_it_was_given_up(hub):
    half: list[int] = []

    def given_up() -> bool:
        return bool(half) and half[-1] > 150_000

    with pytest.raises(Cancelled):
        storage.fetch_all("qwen3-4b", lambda done, total: half.append(done), given_up)
    seen: list[int] = []
    storage.fetch_all("qwen3-4b", lambda done, total: seen.append(done), never)
    assert seen[0] >= 130_000
    assert seen[-1] == FILE_BYTES
