"""Sessions that share the network's steps speak as each would alone: the same codes, so the same
samples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.tts.base import AudioFrame, Finished, Pcm, Voice
from engine.tts.voxtream.batch import SlotBatch
from engine.tts.voxtream.config import FULL, INT8
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser, random_voice
from tests.engine.tts.utterances import drain, push, speak
from tests.engine.tts.voxtream.small_model import SMALL, small

WORDS = ["Many", "share", "a", "step."]
PROMPTS = (20, 88, 30, 14)  # frames; behind the longest the window of 96 columns turns over


@dataclass
class Speaker:
    """What one says, when it joins, and at which step it gets each of its words."""

    number: int
    joins: int = 0
    words_every: int = 0  # steps; 0 = all at once
    leaves: int = 1000
    heard: list[AudioFrame] = field(default_factory=list)
    session: VoxtreamSession | None = None

    @property
    def pcm(self) -> Pcm:
        return np.concatenate([frame.pcm for frame in self.heard])

    def open(self, opener: Callable[..., VoxtreamSession]) -> VoxtreamSession:
        session = opener(voice_of(self.number), seed=self.number)
        session.rate = 3.0 + self.number
        return session

    def feed(self, session: VoxtreamSession, step: int) -> None:
        if not self.words_every and step == 0:
            push(session, WORDS)
        elif self.words_every and step % self.words_every == 0:
            word = step // self.words_every
            if word < len(WORDS):
                session.push_word(WORDS[word])
            else:
                session.end_input()


def voice_of(number: int) -> Voice:
    return random_voice(SMALL, seed=number, frames=PROMPTS[number])


def alone(model: VoxtreamSynthesiser, speaker: Speaker) -> Pcm:
    with speaker.open(model.open) as session:
        for step in range(speaker.words_every * len(WORDS) + 1):
            speaker.feed(session, step)
        return np.concatenate([frame.pcm for frame in drain(session)])


def together(batch: SlotBatch, speakers: Sequence[Speaker]) -> None:
    waiting, speaking = list(speakers), list[Speaker]()
    step = 0
    while waiting or speaking:
        for speaker in [each for each in waiting if each.joins <= step and batch.free]:
            waiting.remove(speaker)
            speaker.joins = step
            speaker.session = speaker.open(batch.open)
            speaking.append(speaker)
        sessions = []
        for speaker in speaking:
            speaker.feed(speaker.session, step - speaker.joins)
            sessions.append(speaker.session)
        for speaker, made in zip(list(speaking), batch.step(sessions), strict=True):
            if isinstance(made, AudioFrame):
                speaker.heard.append(made)
            if isinstance(made, Finished) or step - speaker.joins >= speaker.leaves:
                speaker.session.close()
                speaking.remove(speaker)
        step += 1


@pytest.fixture(scope="module", params=[FULL, INT8], ids=lambda profile: profile.name)
def model(request) -> VoxtreamSynthesiser:
    return small(request.param)


def test_who_joins_leaves_or_waits_changes_no_other_session(model):
    speakers = [
        Speaker(0),
        Speaker(1, joins=2),
        Speaker(2, words_every=5),  # starves in between, and waits until somebody leaves
        Speaker(3, joins=1, leaves=4),
    ]
    batch = model.batch(3)
    together(batch, speakers)
    assert batch.free == 3
    for speaker in speakers:
        expected = alone(model, Speaker(speaker.number, words_every=speaker.words_every))
        if speaker.leaves < 1000:
            expected = expected[: len(speaker.pcm)]
            assert len(expected)
        assert np.array_equal(speaker.pcm, expected), f"speaker {speaker.number}"


def test_a_session_keeps_its_slot_from_passage_to_passage_and_gives_it_back_once():
    model = small(passage_frames=2)
    batch = model.batch(1)
    words = ["One.", "Two.", "Three."]
    session = batch.open(voice_of(0), seed=1)
    assert batch.free == 0
    heard = [frame.pcm for frame in speak(session, words)]
    session.close()
    session.close()
    assert batch.free == 1
    with model.open(voice_of(0), seed=1) as outside:
        expected = [frame.pcm for frame in speak(outside, words)]
    assert np.array_equal(np.concatenate(heard), np.concatenate(expected))
