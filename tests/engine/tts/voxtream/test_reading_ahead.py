"""Words are taken up as they come, as far as the network sees; when they came is of the trace. The
laws that hold for such a session are held in test_laws.py.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from engine.tts.base import AudioFrame, Finished
from engine.tts.voxtream.edition import EDITIONS
from engine.tts.voxtream.files.place import VOXTREAM2_1
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.utterances import WORDS, push
from tests.engine.tts.voxtream.small_model import SMALL, small


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
    session.rate = 5.0
    return session


def said(model: VoxtreamSynthesiser, steps: Sequence[int]) -> Said:
    """`steps`: before which step each word comes; with the last one the input ends."""
    frames: list[AudioFrame] = []
    known: list[int] = []
    coming = list(zip(steps, WORDS, strict=True))
    with opened(model) as session:
        while True:
            while coming and coming[0][0] <= len(known):
                session.push_word(coming.pop(0)[1])
            if not coming:
                session.end_input()
            step = session.step()
            known.append(session.taken)
            if isinstance(step, AudioFrame):
                frames.append(step)
            elif isinstance(step, Finished):
                break
    onsets = tuple((onset.word, onset.sample) for frame in frames for onset in frame.onsets)
    return Said(b"".join(frame.pcm.tobytes() for frame in frames), onsets, tuple(known))


def test_the_same_words_at_the_same_steps_repeat(model):
    draw = random.Random(1)
    as_a_model_writes = sorted(draw.randrange(24) for _ in WORDS)
    one = said(model, as_a_model_writes)
    assert said(model, as_a_model_writes) == one
    assert [word for word, _ in one.onsets] == list(range(len(WORDS)))


def test_words_that_come_when_they_are_taken_up_sound_the_same(model):
    """What lies beyond the look-ahead is not known yet, whether it was pushed or not."""
    whole = said(model, [0] * len(WORDS))
    assert len(set(whole.known)) > 5
    when_taken = [
        next(step for step, known in enumerate(whole.known) if known > word)
        for word in range(len(WORDS))
    ]
    again = said(model, when_taken)
    assert (again.pcm, again.onsets) == (whole.pcm, whole.onsets)


def test_what_was_pushed_is_known_as_far_as_the_masks_see(model, synthesiser):
    """The last word taken may be long; without a look-ahead none is known before it is needed."""
    assert (model.info.reads_ahead, synthesiser.info.reads_ahead) == (True, False)
    for speaker, least in ((model, SMALL.look_ahead), (synthesiser, 0)):
        with opened(speaker) as session:
            push(session, WORDS, ended=False)
            for _ in range(8):
                assert isinstance(session.step(), AudioFrame)
                assert least <= session._ahead() < max(3, least) + 12
