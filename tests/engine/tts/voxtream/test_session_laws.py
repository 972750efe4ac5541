"""The laws every synthesiser obeys, on the small model (random weights cannot follow a rate), made
ready as the program makes it: frames as plain calls, and as replays of one graph.
"""

from collections.abc import Callable

import pytest

from engine.tts.base import TtsModel
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.voxtream.small_model import in_place, small

# What a graph could break most easily: what it keeps between calls. Its other cases are long.
OF_BOTH = (
    laws.word_by_word_equals_all_at_once,
    laws.sessions_do_not_disturb_each_other,
    laws.closing_at_any_moment_leaves_the_model_whole,
)
OF_GRAPHS = [
    pytest.param(law, marks=() if law in OF_BOTH else pytest.mark.long) for law in laws.LAWS
]


@pytest.fixture(scope="module")
def plain() -> VoxtreamSynthesiser:
    return warmed(small())


@pytest.fixture(scope="module")
def graph() -> VoxtreamSynthesiser:
    return warmed(in_place())


def warmed(model: VoxtreamSynthesiser) -> VoxtreamSynthesiser:
    model.warm(model.voices()[0])
    return model


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_session_obeys(plain: VoxtreamSynthesiser, law: Callable[[TtsModel], None]) -> None:
    law(plain)


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize("law", OF_GRAPHS, ids=lambda law: law.__name__)
def test_replays_of_a_graph_obey(
    graph: VoxtreamSynthesiser, law: Callable[[TtsModel], None]
) -> None:
    law(graph)
