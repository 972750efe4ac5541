"""The voice that ships, heard: its files, its voices, its words at three rates, that it ends."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.recognisers import Recogniser, word_error_rate
from engine.training.evaluation.voices import LiveVoice
from engine.training.run import file_hash

PACK = Path(__file__).parents[3] / "resources" / "starter"
HASHES = {
    "codec.safetensors":
        "119517724772ddafc9af86932732ed204d5eaa4d76734da98344420214d32b5e",
    "config.json":
        "89be18a60761a6ed1a9d58487650538b33e5e59d76bf67fb42e8d760daa3a4fe",
    "phones.json":
        "1830190e231e5a2cd567ac49ea22e5df3a3cfdd12e6fdfa4839b5df85178ad56",
    "speaker.safetensors":
        "b85ebc2fd1bac943648081d63754615be40ae761e594d8b8e85e40a379d97093",
    "voice.safetensors":
        "b64bffb92b45fc3a8b5d3693b3f3c1dccd03e883206a20d0933671d333026a4f",
    "voices/anton-c3a68c9a30.voice.safetensors":
        "bbaede105c89c5a7aecb8f50c6f9d9db1dbb9c5e9f9909b5392bbc29e2752c90",
    "voices/bruno-01820c1e6a.voice.safetensors":
        "dc59136ff420877aee1c41eebcbe546609135f4799afcfa69f59529e454364a6",
    "voices/clara-cdf9461530.voice.safetensors":
        "996c3238e25523ce22665c2b5a34840a56422a9b9f25f1f35817a9e2deaa8fee",
    "voices/dario-b7dddbefbe.voice.safetensors":
        "db06662f0d2cf7d2c35559467f00183d3e5757b486a0f5910a0a55f0f4babbbb",
    "voices/edda-6d296dce92.voice.safetensors":
        "4c3accc12aa6ac162400a994cad4cc04591c515f99867609972b37db32c878bd",
    "voices/fanny-d0c19fef4d.voice.safetensors":
        "16a3f6e1ee11a5e6f4c5d5897c96655fb788d8e238cf1e7e18fbc8a127e89326",
}  # fmt: skip
VOICES = ("Anton", "Bruno", "Clara", "Dario", "Edda", "Fanny")
SENTENCES = (
    "Your train leaves at seven.",
    "The meeting is on Monday.",
    "I could not find the letter.",
    "It is cold in the garden.",
    "Open the back door, please.",
    "Should I call the doctor?",
    "There is bread on the table.",
    "We have nine minutes left.",
    "The road by the river is closed.",
    "Good morning, how are you?",
    "Nobody was in the kitchen.",
    "Turn the music down a little.",
    "She wants to see the mountains.",
    "That is a very good question.",
    "My brother bought a new house.",
    "Tomorrow will be warm and sunny.",
    "What would you like to drink?",
    "He forgot his keys again.",
    "The blue car is mine.",
    "Let us begin with the story.",
)
# Words wrong with a bigram of these sentences, of 112 at each rate. Of the pack that ships it was
# 0.9, 0.0 and 0.0 %; another processor rounds otherwise and draws other codes. With its codes in
# another order, or its phones eight places off, more words are wrong than there are.
# 34 s of one core at all rates; make test takes every other sentence at the middle one.
BOUNDS = {2.5: 0.1, 4.0: 0.08, 6.0: 0.08}


@dataclass(frozen=True)
class _Heard:
    said: tuple[Spoken, ...]
    words_wrong: float


SOME = pytest.param((4.0, SENTENCES[::2]), id="some at 4 SPS")
ALL = [
    pytest.param((rate, SENTENCES), id=f"all at {rate:g} SPS", marks=pytest.mark.long)
    for rate in BOUNDS
]


@pytest.fixture(scope="module", params=[SOME, *ALL])
def heard(request: pytest.FixtureRequest) -> tuple[float, _Heard]:
    """Sentences at a rate, the voices in turn."""
    rate, sentences = request.param
    judge = Recogniser(SENTENCES)
    said = [
        spoken
        for number, name in enumerate(VOICES)
        for spoken in LiveVoice(str(PACK), name).speak(sentences[number :: len(VOICES)], (rate,))
    ]
    wrong = word_error_rate(
        [spoken.text for spoken in said],
        [judge.hear(spoken.pcm, spoken.sample_rate) for spoken in said],
    )
    return rate, _Heard(tuple(said), wrong)


def test_its_files_are_those_that_were_measured() -> None:
    found = {str(file.relative_to(PACK)): file_hash(file) for file in PACK.rglob("*.*")}
    del found["CARD.md"]
    assert found == HASHES


@pytest.mark.slow
def test_it_is_understood_at_every_rate(heard: tuple[float, _Heard]) -> None:
    rate, found = heard
    assert found.words_wrong <= BOUNDS[rate]


@pytest.mark.slow
def test_it_ends_by_itself_at_about_the_rate_asked_for(heard: tuple[float, _Heard]) -> None:
    rate, found = heard
    assert all(spoken.ended for spoken in found.said)
    assert sum(spoken.rate for spoken in found.said) / len(found.said) == pytest.approx(
        rate, rel=0.2
    )
