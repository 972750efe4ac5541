from collections.abc import Iterator

import pytest

from tests.engine.llm.scripted_server import ScriptedServer
from tests.help.machine.own_data import own_data

__all__ = ["own_data"]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server of language models that answers by a script."""
    scripted = ScriptedServer()
    yield scripted
    scripted.stop()
