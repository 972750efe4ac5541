"""The laws of a system and of a rate that changes, on the small model; every window of the paper's
figure, and a hop beyond one.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.tts.base import TtsModel
from engine.tts.speakstream.synthesiser import SpeakStreamSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.speakstream.small_model import GENERATION, small


@pytest.fixture(scope="module")
def model() -> SpeakStreamSynthesiser:
    return small()


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize(
    "law",
    [*laws.LAWS_OF_A_SYSTEM, laws.a_new_rate_changes_later_words_only],
    ids=lambda law: law.__name__,
)
def test_a_session_obeys(law: Callable[[TtsModel], None], model: SpeakStreamSynthesiser) -> None:
    law(model)


@pytest.mark.parametrize(("window", "hop"), [(1, 1), (4, 1), (4, 2)])
def test_no_window_breaks_word_by_word(window: int, hop: int) -> None:
    model = small(replace(GENERATION, window=window, hop=hop, temperature=0.8))
    laws.word_by_word_equals_all_at_once(model)
    laws.every_word_has_one_onset_in_order(model)
    laws.same_seed_same_samples(model)
