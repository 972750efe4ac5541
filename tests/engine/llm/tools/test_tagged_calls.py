import pytest

from engine.llm.tools.tagged_calls import tool_calls
from engine.llm.tools.tags import Tagged
from tests.engine.llm.cases import CASES

DEEP = "[" * 100_000


@pytest.mark.parametrize(("body", "calls"), [*CASES["tagged_calls"], (DEEP, [["", DEEP]])])
def test_every_way_to_write_calls_is_read(body, calls):
    read = list(tool_calls([Tagged(body)]))
    assert [[call.name, call.arguments] for call in read] == calls
    assert read[0].id == "call"
