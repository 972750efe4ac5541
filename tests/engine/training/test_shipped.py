"""The voice that ships, heard: its files, its voices, its words at three rates, that it ends."""

import tomllib
from pathlib import Path

import pytest

from engine.training.evaluation.recognisers import Recogniser, word_error_rate
from engine.training.evaluation.voices import LiveVoice
from engine.training.run import file_hash

PACK = Path(__file__).parents[3] / "resources" / "starter"
HASHES = tomllib.loads(Path(__file__).with_name("shipped.toml").read_text("utf-8"))
VOICES = ("Anton", "Bruno", "Clara", "Dario", "Edda", "Fanny")
SENTENCES = tuple(Path(__file__).with_name("sentences.txt").read_text("utf-8").splitlines())
# Words wrong with a bigram of these sentences, of 112 at each rate. Of the pack that ships it was
# 0.9, 0.0 and 0.0 %; another processor rounds otherwise and draws other codes. With its codes in
# another order, or its phones eight places off, more words are wrong than there are.
# 34 s of one core at all rates; make test takes a sentence of every voice at the middle one.
BOUNDS = {2.5: 0.1, 4.0: 0.08, 6.0: 0.08}


def test_its_files_are_those_that_were_measured():
    found = {str(file.relative_to(PACK)): file_hash(file) for file in PACK.rglob("*.*")}
    del found["CARD.md"]
    assert found == HASHES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "sentences"),
    [
        pytest.param(4.0, SENTENCES[: len(VOICES)], id="some at 4 SPS"),
        *(pytest.param(rate, SENTENCES, id=f"all at {rate:g} SPS", marks=pytest.mark.long)
          for rate in BOUNDS),
    ],
)  # fmt: skip
def test_it_is_understood_at_every_rate_and_ends_by_itself(rate, sentences):
    """The voices in turn."""
    said = [
        spoken
        for number, name in enumerate(VOICES)
        for spoken in LiveVoice(str(PACK), name).speak(sentences[number :: len(VOICES)], (rate,))
    ]
    judge = Recogniser(SENTENCES)
    heard = [judge.hear(spoken.pcm, spoken.sample_rate) for spoken in said]
    assert word_error_rate([spoken.text for spoken in said], heard) <= BOUNDS[rate]
    assert all(spoken.ended for spoken in said)
    assert sum(spoken.rate for spoken in said) / len(said) == pytest.approx(rate, rel=0.2)
