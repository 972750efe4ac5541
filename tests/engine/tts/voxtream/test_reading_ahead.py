"""Words are taken up as they come, as far as the network sees; when they came is of the trace."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from engine.tts.base import AudioFrame, Starved, TtsModel
from engine.tts.voxtream.edition import EDITIONS
from engine.tts.voxtream.files.place import VOXTREAM2_1
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser, load_random
from tests.engine.tts import laws
from tests.engine.tts.voxtream.small_model import SMALL, TARGET, small_mimi

TEXT = (
    "Of the many people who asked, one was right: it is late. We will meet the others at seven"
    " and walk along quiet rivers, where nobody has ever been before us, until the moon comes up"
)
WORDS = tuple(TEXT.split())
LAWS = [law for law in laws.LAWS if law not in laws.LAWS_WITHOUT_TIME]


@dataclass(frozen=True)
class Said:
    """Samples and places of words, and how many words were known behind every step."""

    pcm: np.ndarray
    onsets: tuple[tuple[int, int], ...]
    known: tuple[int, ...]


@pytest.fixture(scope="module")
def model() -> VoxtreamSynthesiser:
    edition = EDITIONS[VOXTREAM2_1]
    generation = replace(edition.generation, passage_frames=20)
    edition = replace(edition, generation=generation)
    return load_random(1, config=SMALL, edition=edition, target=TARGET, mimi=small_mimi())


def opened(model: VoxtreamSynthesiser) -> VoxtreamSession:
    session = model.open(model.voices()[0], seed=3)
    session.rate = 3.0
    return session


def said(model: VoxtreamSynthesiser, push: Callable[[VoxtreamSession, int], None]) -> Said:
    """An utterance; `push` gives it words before a step of this number, and ends its input."""
    frames: list[AudioFrame] = []
    known: list[int] = []
    with opened(model) as session:
        while True:
            push(session, len(known))
            step = session.step()
            known.append(session.taken)
            if isinstance(step, AudioFrame):
                frames.append(step)
            elif not isinstance(step, Starved):
                break
    onsets = tuple((onset.word, onset.sample) for frame in frames for onset in frame.onsets)
    return Said(np.concatenate([frame.pcm for frame in frames]), onsets, tuple(known))


def at_random(seed: int) -> Callable[[VoxtreamSession, int], None]:
    """Some words before some steps, as a language model writes."""
    draw, words = random.Random(seed), iter(WORDS)

    def push(session: VoxtreamSession, step: int) -> None:
        for _ in range(draw.choice((0, 0, 1, 1, 3))):
            give(session, words)

    return push


def all_at_once(session: VoxtreamSession, step: int) -> None:
    if step == 0:
        for word in WORDS:
            session.push_word(word)
        session.end_input()


def give(session: VoxtreamSession, words: Iterator[str]) -> None:
    word = next(words, None)
    if word is None:
        session.end_input()
    else:
        session.push_word(word)


def assert_same(one: Said, other: Said) -> None:
    assert np.array_equal(one.pcm, other.pcm)
    assert one.onsets == other.onsets


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_session_obeys(model: VoxtreamSynthesiser, law: Callable[[TtsModel], None]) -> None:
    law(model)


def test_the_model_says_that_it_reads_ahead(model: VoxtreamSynthesiser) -> None:
    assert model.info.reads_ahead


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_words_at_the_same_steps_give_the_same_samples(
    model: VoxtreamSynthesiser, seed: int
) -> None:
    one = said(model, at_random(seed))
    assert_same(said(model, at_random(seed)), one)
    assert [word for word, _ in one.onsets] == list(range(len(WORDS)))


def test_words_that_come_when_they_are_taken_up_give_the_samples_of_those_that_came_before(
    model: VoxtreamSynthesiser,
) -> None:
    """What lies beyond the look-ahead is not known yet, whether it was pushed or not."""
    whole = said(model, all_at_once)
    words, pushed = iter(WORDS), 0

    def when_taken(session: VoxtreamSession, step: int) -> None:
        nonlocal pushed
        while pushed < whole.known[step]:
            session.push_word(next(words))
            pushed += 1
        if pushed == len(WORDS):
            session.end_input()

    assert len(set(whole.known)) > 5
    assert_same(said(model, when_taken), whole)


def test_when_words_come_decides_how_they_sound(model: VoxtreamSynthesiser) -> None:
    words = iter(WORDS)

    def one_by_one(session: VoxtreamSession, step: int) -> None:
        give(session, words)

    late, early = said(model, one_by_one), said(model, all_at_once)
    assert not np.array_equal(late.pcm[:20_000], early.pcm[:20_000])


def test_what_was_pushed_is_known_as_far_as_the_masks_see(model: VoxtreamSynthesiser) -> None:
    assert SMALL.look_ahead == 30
    with opened(model) as session:
        for word in WORDS:
            session.push_word(word)
        for _ in range(8):
            assert isinstance(session.step(), AudioFrame)
            assert 30 <= session._ahead() < 30 + 12  # the last word taken up may be long


def test_without_a_look_ahead_no_word_is_known_before_it_is_needed(
    synthesiser: VoxtreamSynthesiser,
) -> None:
    assert not synthesiser.info.reads_ahead
    with opened(synthesiser) as session:
        for word in WORDS:
            session.push_word(word)
        for _ in range(8):
            assert isinstance(session.step(), AudioFrame)
            assert session._ahead() < 3 + 12
