"""SpeakStream's stages on a few seconds of speech and a few steps: they run, the pack speaks, and
what is learnt is what a session does.
"""

import numpy as np
import pytest
import torch

from engine.codec.mel import BANDS, Levels
from engine.nn.transformer import KvCache
from engine.training.networks import spoken_units
from engine.training.run import Run
from engine.training.speakstream.data import (
    NOTHING,
    WordsUtterance,
    collated,
    corrupted,
    make_lesson,
)
from engine.training.speakstream.losses import SpeakStreamLearner, fresh_model, hidden
from engine.training.utterances import read_sides
from engine.tts.speakstream.model import BEGIN, COLUMNS, END, LOST, SPEAKER, WORD
from engine.tts.speakstream.script import SpeakStreamScript
from tests.engine.text.cases import phoned
from tests.engine.training.conftest import by_heart, last
from tests.engine.tts.speakstream.small_model import SHAPE
from tests.engine.tts.voxtream.random_weights import own_table

LEVELS = Levels(-6.0, 2.0)


def spoken(seed: int = 0, rounds: int = 1) -> WordsUtterance:
    """Three words again and again, of 1, 2 and 3 phones and of 3, 1 and 6 positions."""
    draw = np.random.default_rng(seed)
    lengths = [2, *[3, 1, 6] * rounds]
    starts = np.cumsum(lengths).astype(np.int32)
    return WordsUtterance(
        1,
        draw.normal(0, 1, 192).astype(np.float32),
        draw.normal(-2, 2, (sum(lengths) * COLUMNS, BANDS)).astype(np.float16),
        np.asarray([0, 0, 1, 0, 1, 2] * rounds, np.int16),
        np.asarray([1, 2, 3] * rounds, np.int16),
        starts,
        np.asarray([0, 0, 0, 1, 0, 0, 0, 1, 2, 2] * rounds, np.int16),
    )


def test_a_lesson_is_what_the_paper_prints():
    """Without the pause before it."""
    utterance = spoken()
    made = make_lesson(utterance, LEVELS, size=2, hop=1)
    speech = NOTHING
    assert made.ids.tolist() == [
        *[SPEAKER, 0, WORD, 0, 1, WORD, BEGIN, *[speech] * 3],
        *[END, 0, 1, WORD, 0, 1, 2, WORD, BEGIN, speech],
        *[END, 0, 1, 2, WORD, BEGIN, *[speech] * 6],
    ]
    mel = torch.from_numpy(utterance.mel[2 * COLUMNS :]).float()
    level = LEVELS.quantised(mel).view(-1, COLUMNS, BANDS)
    assert torch.equal(made.inputs[made.is_speech], level)
    assert torch.equal(made.targets[made.unit != NOTHING], level)
    assert (made.inputs[~made.is_speech] == LOST).all()
    assert (made.targets[made.unit == NOTHING] == NOTHING).all()
    assert [end for end in made.end.tolist() if end != NOTHING] == [0, 0, 1, 1, 0, 0, 1, 1, 0, 1]


def test_whole_lessons_and_single_steps_predict_the_same():
    torch.manual_seed(1)
    model = fresh_model(SHAPE).eval()
    lessons = [make_lesson(spoken(n, 1 + n), LEVELS, 2, 1) for n in range(2)]
    batch = collated(lessons)
    whole = model.predict(hidden(model, batch, 0.0))
    for row, each in enumerate(lessons):
        cache = KvCache(SHAPE.stack)
        for place, number in enumerate(each.ids.tolist()):
            if number == NOTHING:
                levels = batch.inputs[row : row + 1, place : place + 1]
                x = model.hear(levels, model.enter.keep_masks((1, 1), 0.0, None))
            else:
                x = model.read(torch.tensor([[number]]), batch.speakers[row : row + 1])
            here = slice(row, row + 1), slice(place, place + 1)
            x = x + model.saying(batch.unit[here], batch.later[here])
            with torch.no_grad():
                found = model.predict(model.step(x, cache)[:, None])
            assert torch.allclose(found.levels[0, 0], whole.levels[row, place], atol=1e-4)
            assert torch.allclose(found.end[0, 0], whole.end[row, place], atol=1e-4)


def test_what_is_corrupted_is_what_is_heard():
    torch.manual_seed(1)
    lessons = [make_lesson(spoken(n, 2), LEVELS, 3, 1) for n in range(20)]
    batch = collated(lessons)
    rough = corrupted(batch, wrong=0.3, lost=0.2)
    assert torch.equal(rough.targets, batch.targets)
    assert torch.equal(rough.ids, batch.ids)
    speech = batch.is_speech
    lost = (rough.inputs[speech] == LOST).all(-1).all(-1)
    assert 0.1 < float(lost.float().mean()) < 0.3
    moved = (rough.inputs[speech] != batch.inputs[speech]).any(-1).any(-1) & ~lost
    assert 0.15 < float(moved.float().mean()) < 0.35


def test_a_position_says_a_unit_and_knows_the_next():
    made = make_lesson(spoken(3), LEVELS, 2, 1)
    speech = made.end != NOTHING
    assert made.unit[speech].tolist() == [0, 0, 0, 1, 0, 0, 0, 1, 2, 2]
    assert made.later[speech].tolist() == [1, 1, 1, 0, 1, 1, 1, 2, END, END]
    assert (made.unit[~speech] == NOTHING).all()


def test_a_session_says_the_units_that_training_found():
    script = SpeakStreamScript(own_table())
    for word in phoned(["Quite", "a", "long", "sentence", "—", "it", "was,", "yes."]):
        script.add(word)
    for word in script.words:
        begins = list(range(word.phones))
        said = spoken_units(0, len(word.ids), begins, word.phones)
        assert word.units == [word.ids[place] for place in dict.fromkeys(said)]


@pytest.fixture(scope="module")
def whole(run_of) -> Run:
    return run_of("speakstream")


@pytest.mark.long
def test_encoded_words_are_those_that_were_spoken(whole):
    people = read_sides(whole, WordsUtterance).training
    assert people
    for utterance in (each for person in people.values() for each in person):
        assert len(utterance.starts) == len(utterance.words) + 1
        assert (np.diff(utterance.starts) >= 1).all()
        assert len(utterance.mel) // COLUMNS == utterance.starts[-1]
        said = np.split(utterance.said, utterance.starts[1:-1] - utterance.starts[0])
        for word, units in zip(utterance.words, said, strict=True):
            assert (np.diff(units) >= 0).all()
            assert 0 <= units[0] <= units[-1] < len(word)
        # Speech is louder than the silence before it.
        first = utterance.starts[0] * COLUMNS
        quiet, loud = utterance.mel[: max(1, first - 1)], utterance.mel[first:]
        assert loud.astype(np.float32).mean() > quiet.astype(np.float32).mean()
    facts = whole.facts("encode")
    assert facts["lowest"] < facts["highest"]
    assert 3.0 < facts["pace"] < 7.0


@pytest.mark.long
def test_one_lesson_is_learnt_by_heart_and_so_are_its_lengths(whole):
    torch.manual_seed(1)
    losses = by_heart(SpeakStreamLearner(whole))
    assert last(losses, "levels") < 0.8
    assert last(losses, "end") < 0.6
