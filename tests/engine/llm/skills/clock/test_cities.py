"""The time elsewhere, as seen from a machine in Berlin on a winter afternoon."""

from collections.abc import Iterator

import pytest

from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import asked, in_zone


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from in_zone(monkeypatch, "Europe/Berlin")


@pytest.mark.parametrize(("text", "answer"), CASES["elsewhere"])
def test_the_time_elsewhere_is_seen_from_here(text, answer):
    assert asked(text).text == answer
