"""What an utterance of VoXtream2 does beside the laws, on a small model with random weights."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.codec.mimi import NOTHING, Mimi, MimiStream
from engine.errors import InvalidInput
from engine.text.phonemes import PhonedWord
from engine.tts.base import AudioFrame, Finished, Pcm, Starved
from engine.tts.phones import EOS, SILENCE
from engine.tts.voxtream.config import EDITIONS, NEVER
from engine.tts.voxtream.files.paths import VOXTREAM2_1
from engine.tts.voxtream.network.frames import DrawnFrame, FrameMaker
from engine.tts.voxtream.script import Span, VoxtreamScript
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.text.cases import phoned
from tests.engine.tts.utterances import WORDS as MANY
from tests.engine.tts.utterances import (
    Utterance,
    assert_same,
    drain,
    longest_silence,
    push,
    say,
    speak,
)
from tests.engine.tts.voxtream.random_weights import own_table
from tests.engine.tts.voxtream.small_model import SMALL, small
from tests.engine.tts.voxtream.voxtream1 import small_voxtream1

WORDS = ["Hello", "world,", "this", "is", "the", "apple", "of", "my", "eye.", "Really?!"]


def said(model: VoxtreamSynthesiser, rate: float | None) -> Pcm:
    return say(model, [WORDS[:6]], seed=3, rate=rate).pcm


def test_it_begins_with_three_phones(synthesiser, voice):
    with synthesiser.open(voice, seed=1) as session:
        session.push_word("Hi")
        assert isinstance(session.step(), Starved)
        session.push_word("everybody")
        assert isinstance(session.step(), AudioFrame)


@pytest.mark.parametrize("rate", [4.0, None])
def test_slow_words_take_more_frames_and_leave_the_first_ones_as_they_are(synthesiser, voice, rate):
    def frames(pace: float) -> list[AudioFrame]:
        with synthesiser.open(voice, seed=6) as session:
            session.rate = rate
            for number, word in enumerate(WORDS * 3):
                session.push_word(word, 1.0 if number < len(WORDS) else pace)
            session.end_input()
            return drain(session)

    plain, slow = frames(1.0), frames(0.2)
    assert len(slow) > len(plain)
    for one, other in zip(plain[: len(plain) // 4], slow, strict=False):
        assert np.array_equal(one.pcm, other.pcm)


@pytest.mark.parametrize(
    ("name", "tensor", "message"),
    [
        ("codes", np.full((4, 5), 2048, np.int16), "codes"),
        ("speaker", None, "holds no 'speaker'"),
        ("speaker", np.full(192, np.nan, np.float32), "'speaker' of shape"),
    ],
)
def test_a_voice_of_broken_numbers_is_refused(synthesiser, voice, name, tensor, message):
    tensors = {**voice.tensors, name: tensor}
    broken = {key: value for key, value in tensors.items() if value is not None}
    with pytest.raises(InvalidInput, match=message):
        synthesiser.open(replace(voice, tensors=broken), seed=0)


def test_the_global_generator_is_left_alone(synthesiser, voice):
    before = torch.random.get_rng_state()
    with synthesiser.open(voice, seed=3) as session:
        speak(session, WORDS[:3])
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.fixture(scope="module")
def stretching() -> VoxtreamSynthesiser:
    """Its network is asked for 2.5 to 3 SPS; the rest is stretched."""
    return small(lowest_rate=2.5, highest_rate=3.0)


def test_a_rate_beyond_the_network_is_reached_by_stretching(stretching, synthesiser):
    lengths = {rate: len(said(stretching, rate)) for rate in (1.5, 2.5, 3.0, 6.0)}
    assert lengths[3.0] / lengths[6.0] == pytest.approx(2.0, rel=0.1)
    assert lengths[1.5] / lengths[2.5] == pytest.approx(2.5 / 1.5, rel=0.1)
    assert np.array_equal(said(stretching, None), said(synthesiser, None))  # its own pace


@pytest.mark.parametrize("rate", [1.5, 2.5, 4.0, 6.0])
def test_speech_keeps_its_rate_though_the_network_is_too_fast(stretching, rate):
    """Random weights speak 1.4 to 1.7 times as fast as they are asked to."""
    frames = say(stretching, [WORDS * 6], seed=3, rate=rate).frames
    assert frames[-1].mean == pytest.approx(rate, rel=0.03)


def test_a_rate_that_was_moved_is_kept_from_then_on(stretching):
    with stretching.open(stretching.voices()[0], seed=3) as session:
        session.rate = 6.0
        push(session, WORDS * 8)
        for _ in range(60):
            session.step()
        session.rate = 2.0
        assert drain(session)[-1].rate == pytest.approx(2.0, rel=0.05)


def test_a_new_rate_is_heard_in_the_same_step(stretching):
    with stretching.open(stretching.voices()[0], seed=3) as session:
        session.rate = 3.0
        push(session, WORDS, ended=False)
        steps = [session.step() for _ in range(6)]
        session.rate = 6.0
        quicker = session.step()
    assert all(isinstance(step, AudioFrame) for step in (*steps, quicker))
    assert len(quicker.pcm) < 0.7 * len(steps[-1].pcm)


class Halting:
    """Frames that are silent from the tenth on, but for one."""

    def __init__(self, frames: FrameMaker) -> None:
        self._frames = frames
        self._made = 0
        self.first, self.close = frames.first, frames.close

    def next(self, phones: Tensor, said: tuple[int, int], controls: Tensor) -> DrawnFrame:
        made = self._frames.next(phones, said, controls)
        self._made += 1
        silent = self._made >= 10 and self._made != 60
        return DrawnFrame(made.token, made.pcm * (not silent))


def test_a_silence_of_the_network_does_not_become_a_long_one(stretching):
    with stretching.open(stretching.voices()[0], seed=3) as session:
        session._frames = Halting(session._frames)
        session.rate = 1.0
        frames = speak(session, WORDS * 3)
    utterance = Utterance(tuple(frames))
    assert 0.5 < longest_silence(utterance.pcm, stretching.info.sample_rate) <= 1.2
    assert [onset.word for onset in utterance.onsets] == list(range(3 * len(WORDS)))
    samples = [onset.sample for onset in utterance.onsets]
    assert samples == sorted(samples)


def test_a_fixed_own_rate_is_what_that_rate_is(synthesiser):
    assert np.array_equal(said(small(own_rate=4.0), None), said(synthesiser, 4.0))


def test_the_codec_begins_behind_the_prompt(synthesiser):
    cold, model = said(synthesiser, 4.0), small(frames_heard=6)
    warm, again = said(model, 4.0), said(model, 4.0)
    assert np.array_equal(warm, again)  # the kept stream is never written to
    assert len(warm) == len(cold)
    assert not np.allclose(warm[:1920], cold[:1920], atol=1e-4)
    assert np.allclose(warm, said(small(frames_heard=6, graphs=True), 4.0), atol=1e-5)


# ---------------------------------------------------------------------------------------- passages


FIRST = ["Hello", "world,", "this", "is", "it."]
LONG = [*FIRST, "Now", "(really", "so!)", "A", "last", "one."]


@pytest.fixture(scope="module")
def short() -> VoxtreamSynthesiser:
    """Every sentence a passage of its own."""
    return small(passage_frames=5)


def test_the_first_passage_is_its_sentence_alone(short):
    alone, long = (say(short, [words], seed=3).pcm for words in (FIRST, LONG))
    one_piece = say(small(passage_frames=NEVER), [LONG], seed=3).pcm
    assert len(alone) < len(long)
    assert np.array_equal(alone, long[: len(alone)])
    assert not np.array_equal(one_piece[: len(long)], long[: len(one_piece)])


def test_without_a_sentences_end_there_is_one_passage(short):
    commas = [word.strip(".!)") + "," for word in LONG]
    one_piece = say(small(passage_frames=NEVER), [commas], seed=3)
    assert_same(say(short, [commas], seed=3), one_piece)


@pytest.mark.parametrize("make", [small, small_voxtream1.small], ids=["voxtream2", "voxtream"])
def test_a_sentence_longer_than_the_window_is_cut_between_words_and_loses_none(make, monkeypatch):
    """The windows of passages begin anew; words taken up and not begun are said in the next."""
    spoken: list[str] = []
    monkeypatch.setattr(VoxtreamScript, "is_cut", noted(spoken, VoxtreamScript.is_cut))
    model, words = make(), ["boats"] * 40
    frames = say(model, [words], seed=3, rate=2.0 if model.info.rate_range else None).frames
    begun = [onset.word for frame in frames for onset in frame.onsets]
    assert begun == list(range(len(words)))
    assert spoken.count("cut between words") > 0
    assert spoken.count("cut in a word") == 0


def noted(spoken: list[str], genuine: Callable[..., bool]) -> Callable[..., bool]:
    def is_cut(script: VoxtreamScript, before: Span, span: Span, left: int) -> bool:
        cut = genuine(script, before, span, left)
        if cut:
            spoken.append("cut in a word" if left <= 0 else "cut between words")
        return cut

    return is_cut


def test_a_window_that_fills_within_a_word_is_cut_there(short, voice):
    script = VoxtreamScript(short._of(voice), own_table())
    script.add(PhonedWord(("b", "oʊ", "t", "s")))
    inside, one_on = Span(script.phone_count - 3, script.phone_count - 3), script.phone_count - 2
    assert not script.is_cut(inside, Span(one_on, one_on), left=1)
    assert script.is_cut(inside, Span(one_on, one_on), left=0)


def test_between_passages_it_waits_and_keeps_its_rate(short, voice):
    with short.open(voice, seed=3) as session:
        session.rate = 4.0
        push(session, FIRST, ended=False)
        drain(session)
        assert isinstance(session.step(), Starved)
        session.push_word("More", 0.8)
        push(session, ["words", "about", "another", "matter"])
        assert drain(session)[-1].rate is not None  # measured over the passages' border
        assert isinstance(session.step(), Finished)


# ----------------------------------------------------------------------------------- reading ahead


@dataclass(frozen=True)
class Said:
    """Bytes of the samples, places of words, and how many words were known behind every step."""

    pcm: bytes
    onsets: tuple[tuple[int, int], ...]
    known: tuple[int, ...]


@pytest.fixture(scope="module")
def ahead() -> VoxtreamSynthesiser:
    return small(edition=EDITIONS[VOXTREAM2_1], passage_frames=20)


def opened(ahead: VoxtreamSynthesiser) -> VoxtreamSession:
    session = ahead.open(ahead.voices()[0], seed=3)
    session.rate = 5.0
    return session


def traced(ahead: VoxtreamSynthesiser, steps: Sequence[int]) -> Said:
    """`steps`: before which step each word comes; with the last one the input ends."""
    frames: list[AudioFrame] = []
    known: list[int] = []
    coming = list(zip(steps, MANY, strict=True))
    with opened(ahead) as session:
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


def test_the_same_words_at_the_same_steps_repeat(ahead):
    draw = random.Random(1)
    as_a_model_writes = sorted(draw.randrange(24) for _ in MANY)
    one = traced(ahead, as_a_model_writes)
    assert traced(ahead, as_a_model_writes) == one
    assert [word for word, _ in one.onsets] == list(range(len(MANY)))


def test_words_that_come_when_they_are_taken_up_sound_the_same(ahead):
    """What lies beyond the look-ahead is not known yet, whether it was pushed or not."""
    whole = traced(ahead, [0] * len(MANY))
    assert len(set(whole.known)) > 5
    when_taken = [
        next(step for step, known in enumerate(whole.known) if known > word)
        for word in range(len(MANY))
    ]
    again = traced(ahead, when_taken)
    assert (again.pcm, again.onsets) == (whole.pcm, whole.onsets)


def test_what_was_pushed_is_known_as_far_as_the_masks_see(ahead, synthesiser):
    """The last word taken may be long; without a look-ahead none is known before it is needed."""
    assert (ahead.info.reads_ahead, synthesiser.info.reads_ahead) == (True, False)
    for speaker, least in ((ahead, SMALL.look_ahead), (synthesiser, 0)):
        with opened(speaker) as session:
            push(session, MANY, ended=False)
            for _ in range(8):
                assert isinstance(session.step(), AudioFrame)
                # A frame moves on by at most three phones.
                assert least - 3 <= session._ahead() < max(3, least) + 12


# -------------------------------------------------------------------------- what the codec is told


FIVE = ["Seven", "boats", "cross", "many", "floods"]


@pytest.mark.parametrize("chunks", [[FIVE], [[word] for word in FIVE]], ids=["whole", "words"])
@pytest.mark.parametrize(
    "make",
    [small, partial(small, graphs=True), small_voxtream1.small],
    ids=["voxtream2", "voxtream2, graph", "voxtream"],
)
def test_the_codec_is_told_each_frame_s_phones(make, chunks, monkeypatch):
    """A frame in which a word begins is told that word's first phone; the phones are those of the
    text in order, of which some may be skipped and none is said twice.
    """
    told: list[tuple[int, ...]] = []
    decode = Mimi.decode_frame

    def keep(mimi: Mimi, stream: MimiStream, codes: Tensor, phones: Tensor | None = None) -> Tensor:
        if phones is not None:
            told.append(tuple(phones[0, :, 0].tolist()))
        return decode(mimi, stream, codes, phones)

    model = make()
    monkeypatch.setattr(Mimi, "decode_frame", keep)
    frames = say(model, chunks, seed=3, rate=3.0 if model.info.rate_range else None).frames
    del told[: len(told) - len(frames)]  # what a graph is tried with
    table, said = own_table(), phoned(FIVE)
    begun = [(onset.word, at) for at, frame in enumerate(frames) for onset in frame.onsets]
    assert [word for word, _ in begun] == list(range(len(FIVE)))
    assert all(table.ids(said[word].phones[0])[0] in told[at] for word, at in begun)
    assert SILENCE in told[-1] or EOS in told[-1]
    text = [number for word in said for phone in word.phones for number in table.ids(phone)]
    left = iter([*text, SILENCE, EOS])
    spoken = [each for each, _ in groupby(one for frame in told for one in dict.fromkeys(frame))]
    assert all(phone in left for phone in spoken if phone != NOTHING)
    assert len(set(spoken) & set(text)) > 0.5 * len(set(text))
