"""Every synthesiser obeys the laws of a session (laws.py)."""

from collections.abc import Callable, Iterator

import pytest

from engine.settings import SpeechSettings
from engine.tts import registry
from engine.tts.base import TtsModel
from engine.tts.voxtream.files.place import PUBLISHED
from tests.engine.tts import laws
from tests.fakes_tts import FakeTts

# How to make each synthesiser for tests: one that speaks, and quickly.
SPEAKING: dict[str, Callable[[], TtsModel]] = {
    "fake": FakeTts,
    "espeak": lambda: registry.load(SpeechSettings(engine="espeak"), lambda text, fraction: None),
}
# Synthesisers whose own tests hold small random weights to laws.LAWS.
HELD_ELSEWHERE: frozenset[str] = frozenset(
    {"starter", "kokoro", *PUBLISHED, "voxtream", "speakstream", "smlle"}
    | {"llmvox", "llmvox-published"}
)


@pytest.fixture(params=sorted(SPEAKING))
def model(request: pytest.FixtureRequest) -> Iterator[TtsModel]:
    loaded = SPEAKING[request.param]()
    yield loaded
    loaded.close()


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize("law", [*laws.LAWS, *laws.LAWS_OF_SPEECH], ids=lambda law: law.__name__)
def test_a_session_obeys(law: Callable[[TtsModel], None], model: TtsModel) -> None:
    law(model)


def test_no_registered_synthesiser_escapes_the_laws() -> None:
    assert set(registry.NAMES) <= set(SPEAKING) | HELD_ELSEWHERE
