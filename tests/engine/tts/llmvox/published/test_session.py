"""What only the published LLMVoX does: its sentences go to two replicas, and end with one entry."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.tts.base import AudioFrame, Starved
from engine.tts.llmvox.model import WORD, LlmVoxGeneration
from engine.tts.llmvox.published.model import TOKENS_PER_UNIT, PublishedSentence
from engine.tts.llmvox.published.synthesiser import GENERATION, PublishedSynthesiser
from engine.tts.llmvox.units import ByteUnits
from tests.engine.tts import laws
from tests.engine.tts.llmvox.published.checkpoints import FULL, SMALL
from tests.engine.tts.llmvox.published.reference import (
    LOGIT_STRIDE,
    SAMPLE_STRIDE,
    STEP_STRIDE,
    STEPS,
)
from tests.engine.tts.llmvox.published.reference import said as said_by_reference
from tests.engine.tts.llmvox.published.small_model import SHORT, small
from tests.engine.tts.utterances import Recorder, push

FIRST, SECOND, THIRD = ["The", "old", "boat", "left."], ["Did", "it?"], ["Nobody", "saw!"]


def said(words: list[str], generation: LlmVoxGeneration = SHORT) -> Recorder:
    ears = Recorder(320)
    laws.say(small(generation, ears), (words,))  # type: ignore[arg-type]
    return ears


def endless(generation: LlmVoxGeneration, ears: Recorder) -> PublishedSynthesiser:
    """Only the limit on tokens ends its sentences."""
    model = small(generation, ears)  # type: ignore[arg-type]
    model.parts.model.leave.weight.data[-1] = 0
    return model


def test_sentences_are_each_said_as_if_alone_and_an_open_one_as_far_as_it_is_known():
    alone = [torch.cat(said(words).pieces) for words in (FIRST, SECOND, THIRD)]
    assert torch.equal(torch.cat(said([*FIRST, *SECOND, *THIRD]).pieces), torch.cat(alone))
    assert all((each.abs().sum(1) > 0).all() for each in alone)  # nothing of the end itself
    ears = Recorder(320)
    model = small(replace(SHORT, first_chunk=1, growth=1), ears)  # type: ignore[arg-type]
    with model.open(model.voices()[0], seed=0) as session:
        push(session, ("Seven", "boats"), ended=False)
        laws.drain(session)
        assert session.step() == Starved()
    assert len(torch.cat(ears.pieces)) == len("Seven") + len("boats") + 2


def test_each_replica_has_chunks_of_its_own_that_double():
    generation = replace(SHORT, first_chunk=2, longest_unit=3, largest_chunk=8)
    ears = Recorder(320)
    laws.say(endless(generation, ears), ([*FIRST, *SECOND, *THIRD, *SECOND],))
    begins = [0, *ears.ends[:-1]]
    sizes = [
        [len(piece) for piece in ears.pieces[begin:end]]
        for begin, end in zip(begins, ears.ends, strict=True)
    ]
    first, second, third, fourth = sizes
    assert first[:3] == [2, 4, 8]
    assert second[:3] == [2, 4, 8]  # the other replica's
    assert set(third[:-1]) | set(fourth[:-1]) == {8}  # they go on where they were


def test_words_begin_where_their_bytes_let_expect_it():
    replica, begun = PublishedSentence(small().parts.model), []
    with torch.inference_mode():
        for place, unit in enumerate([*b"Hello", WORD, *b"you", WORD, *[0] * 40]):
            replica.predict(unit, 0)
            begun += [place] * replica.say(0)
    assert begun == [0, 6 * TOKENS_PER_UNIT, 10 * TOKENS_PER_UNIT]  # the first one always does


def test_a_text_without_a_full_stop_is_said_whole():
    reader, closed, said_bytes = ByteUnits(1000), [], 0
    for _ in range(600):
        (word,) = reader.push("word")
        said_bytes += len(word.units)
        if word.closes:
            closed.append(said_bytes)
            said_bytes = 0
    assert closed == [1005] * 2


def test_a_sentence_never_has_more_positions_than_the_weights():
    model = endless(replace(GENERATION, longest_unit=1000), Recorder(320))
    with model.open(model.voices()[0], seed=0) as session:
        push(session, FIRST)
        lengths = []
        while isinstance(session.step(), AudioFrame):
            lengths.append(session._sentences[0].length)
    assert max(lengths) < model.parts.model.shape.positions


# ----------------------------------------------------------------------- what the public code made


KEPT = Path(__file__).parents[4] / "parity" / "llmvox.json"


@pytest.mark.parametrize(
    ("name", "size"), [("small", SMALL), pytest.param("full", FULL, marks=pytest.mark.long)]
)
def test_it_says_what_its_authors_code_says(name, size):
    theirs = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    ours = said_by_reference(size)
    assert len(theirs["codes"]) == STEPS
    assert ours.codes == theirs["codes"]
    for found, wanted in zip(ours.logits[::STEP_STRIDE], theirs["logits"], strict=True):
        assert found[::LOGIT_STRIDE].tolist() == pytest.approx(wanted, abs=1e-5)
    assert ours.samples[::SAMPLE_STRIDE].tolist() == pytest.approx(theirs["samples"], abs=1e-4)
