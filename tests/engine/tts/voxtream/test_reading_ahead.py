"""Words are taken up as they come, as far as the network sees; when they came is of the trace. The
laws that hold for such a session are held in test_laws.py.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from engine.tts.base import AudioFrame, Starved
from engine.tts.voxtream.edition import EDITIONS
from engine.tts.voxtream.files.place import VOXTREAM2_1
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.utterances import push
from tests.engine.tts.voxtream.small_model import SMALL, small

TEXT = (
    "Of the many people who asked, one was right: it is late. We will meet the others at seven"
    " and walk along quiet rivers, where nobody has ever been before us, until the moon comes up"
)
WORDS = tuple(TEXT.split())


@dataclass(frozen=True)
class Said:
    """Bytes of the samples, places of words, and how many words were known behind every step."""

    pcm: bytes
    onsets: tuple[tuple[int, int], ...]
    known: tuple[int, ...]


@pytest.fixture(scope="module")
def model() -> VoxtreamSynthesiser:
    return small(edition=EDITIONS[VOXTREAM2_1], passage_frames=20)


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
    return Said(b"".join(frame.pcm.tobytes() for frame in frames), onsets, tuple(known))


def at_random(seed: int) -> Callable[[VoxtreamSession, int], None]:
    """Some words before some steps, as a language model writes."""
    draw, words = random.Random(seed), iter(WORDS)

    def push(session: VoxtreamSession, step: int) -> None:
        for _ in range(draw.choice((0, 0, 1, 1, 3))):
            give(session, words)

    return push


def all_at_once(session: VoxtreamSession, step: int) -> None:
    if step == 0:
        push(session, WORDS)


def give(session: VoxtreamSession, words: Iterator[str]) -> None:
    word = next(words, None)
    if word is None:
        session.end_input()
    else:
        session.push_word(word)


def test_the_same_words_at_the_same_steps_repeat(model: VoxtreamSynthesiser) -> None:
    one = said(model, at_random(1))
    assert said(model, at_random(1)) == one
    assert [word for word, _ in one.onsets] == list(range(len(WORDS)))


def test_words_that_come_when_they_are_taken_up_sound_the_same(model: VoxtreamSynthesiser) -> None:
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
    again = said(model, when_taken)
    assert (again.pcm, again.onsets) == (whole.pcm, whole.onsets)


def test_what_was_pushed_is_known_as_far_as_the_masks_see(
    model: VoxtreamSynthesiser, synthesiser: VoxtreamSynthesiser
) -> None:
    """The last word taken may be long; without a look-ahead none is known before it is needed."""
    assert (model.info.reads_ahead, synthesiser.info.reads_ahead) == (True, False)
    for speaker, least in ((model, SMALL.look_ahead), (synthesiser, 0)):
        with opened(speaker) as session:
            push(session, WORDS, ended=False)
            for _ in range(8):
                assert isinstance(session.step(), AudioFrame)
                assert least <= session._ahead() < max(3, least) + 12
