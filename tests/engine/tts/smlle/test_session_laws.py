"""The laws of a system and of a rate that changes, on tiny random weights, with and without the
paper's switches.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.tts.base import TtsModel
from tests.engine.tts import laws
from tests.engine.tts.smlle.small import GENERATION, small

SWITCHED = {
    "plain": GENERATION,
    "no-mechanism": replace(GENERATION, delete_bos=False),
    "no-latents": replace(GENERATION, latents=False),
    "short-passages": replace(GENERATION, passage_steps=20),
}
OF_PLAIN = (*laws.LAWS_OF_A_SYSTEM, laws.a_new_rate_changes_later_words_only)
# The laws that a switch could break.
OF_ALL = (laws.word_by_word_equals_all_at_once, laws.every_word_has_one_onset_in_order)


@pytest.fixture(scope="module")
def models() -> dict[str, TtsModel]:
    return {name: small(generation) for name, generation in SWITCHED.items()}


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize(
    ("name", "law"),
    [
        pytest.param(name, law, id=f"{name}-{law.__name__}")
        for name in SWITCHED
        for law in (OF_PLAIN if name == "plain" else OF_ALL)
    ],
)
def test_a_session_obeys(
    models: dict[str, TtsModel], name: str, law: Callable[[TtsModel], None]
) -> None:
    law(models[name])
