"""The laws of a system, on small models of random weights; where a constant of generation could
break one, with that constant too.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import pytest

from engine.tts.base import TtsModel
from engine.tts.llmvox.config import Units
from tests.engine.tts import laws
from tests.engine.tts.llmvox import small_model as llmvox
from tests.engine.tts.llmvox.published import small_model as published
from tests.engine.tts.smlle import small as smlle
from tests.engine.tts.speakstream import small_model as speakstream
from tests.engine.tts.voxtream.voxtream1 import small_voxtream1 as voxtream1

Law = Callable[[TtsModel], None]
LAWS = laws.LAWS_OF_A_SYSTEM
WITH_A_RATE = (*LAWS, laws.a_new_rate_changes_later_words_only)
FEW = (laws.word_by_word_equals_all_at_once, laws.every_word_has_one_onset_in_order)


def spoken(window: int, hop: int) -> Callable[[], TtsModel]:
    """SpeakStream with a window of the paper's figure."""
    drawn = replace(speakstream.GENERATION, window=window, hop=hop, temperature=0.8)
    return partial(speakstream.small, drawn)


def switched(**changes: object) -> Callable[[], TtsModel]:
    """SMLLE with other constants."""
    return partial(smlle.small, replace(smlle.GENERATION, **changes))  # type: ignore[arg-type]


MODELS: dict[str, tuple[Callable[[], TtsModel], tuple[Law, ...]]] = {
    "voxtream": (voxtream1.small, LAWS),
    "llmvox": (llmvox.small, LAWS),
    "llmvox of bytes, drawn": (
        partial(
            llmvox.small, replace(llmvox.GENERATION, dropout=0.5, temperature=0.7), Units.BYTES
        ),
        (*FEW, laws.strange_words_do_no_harm),
    ),
    "llmvox published": (published.small, LAWS),
    "speakstream": (speakstream.small, WITH_A_RATE),
    "speakstream of a word": (spoken(1, 1), FEW),
    "speakstream of four words": (spoken(4, 1), FEW),
    "speakstream by two words": (spoken(4, 2), (*FEW, laws.same_seed_same_samples)),
    "smlle": (smlle.small, WITH_A_RATE),
    "smlle without its mechanism": (switched(delete_bos=False), FEW),
    "smlle without latents": (switched(latents=False), FEW),
    "smlle in short passages": (switched(passage_steps=20), FEW),
}
made = cache(lambda name: MODELS[name][0]())


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize(
    ("name", "law"),
    [
        pytest.param(name, law, id=f"{name}-{law.__name__}")
        for name, (_, held) in MODELS.items()
        for law in held
    ],
)
def test_a_session_obeys(name: str, law: Law) -> None:
    law(made(name))
