"""The laws of a system, on the small model."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.tts.base import TtsModel
from engine.tts.llmvox.config import Units
from engine.tts.llmvox.synthesiser import LlmVoxSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.llmvox.small_model import GENERATION, small


@pytest.fixture(scope="module")
def model() -> LlmVoxSynthesiser:
    return small()


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize("law", laws.LAWS_OF_A_SYSTEM, ids=lambda law: law.__name__)
def test_a_session_obeys(law: Callable[[TtsModel], None], model: LlmVoxSynthesiser) -> None:
    law(model)


def test_bytes_and_draws_obey_them_too() -> None:
    model = small(replace(GENERATION, dropout=0.5, temperature=0.7), Units.BYTES)
    laws.word_by_word_equals_all_at_once(model)
    laws.every_word_has_one_onset_in_order(model)
    laws.strange_words_do_no_harm(model)
