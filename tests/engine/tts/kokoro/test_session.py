"""What a Kokoro session does beside the laws: ends, rewinds inside words, replies of any kind."""

import gc
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tts.base import AudioFrame, Finished, Onset, Starved, TtsSession
from engine.tts.kokoro import session as session_of_kokoro
from engine.tts.kokoro.parts import FRAME, SAMPLE_RATE, Parts
from engine.tts.kokoro.plan import Plan, PlanRequest, make_plan
from engine.tts.kokoro.symbols import next_words
from tests.engine.text.test_other_languages import SENTENCES
from tests.engine.tts import laws
from tests.engine.tts.kokoro.small import phoned, small, small_voice
from tests.engine.tts.utterances import push, say_all_at_once, speak

FEW = ("Of", "the", "many", "people,", "one", "was", "right:", "it", "is", "late.")


kokoro = cache(small)


def said(words: Sequence[str], rate: float | None = None) -> laws.Utterance:
    return laws.say(kokoro(), [words], rate=rate)


# ------------------------------------------------------------------ replies of any kind


@pytest.mark.parametrize("reply", ["Yes", "Why?", "a", "Oh! Really, thanks"])
def test_a_short_reply_is_said_and_fades_to_silence(reply):
    utterance = said(reply.split())
    seconds = len(utterance.pcm) / SAMPLE_RATE
    assert 0.2 < seconds < 4
    assert np.abs(utterance.pcm).max() > 0.02
    assert not utterance.pcm[-FRAME:].any()
    sounding = np.flatnonzero(utterance.pcm)
    assert np.abs(utterance.pcm[sounding[-12:]]).max() < 0.1 * np.abs(utterance.pcm).max()
    assert [onset.word for onset in utterance.onsets] == list(range(len(reply.split())))


def test_a_reply_without_a_last_mark_is_said_as_with_a_full_stop():
    laws.assert_same(said(["It", "is", "late"]), said(["It", "is", "late."]))


@pytest.mark.parametrize(
    "words",
    [
        ["—", "It", "...", "is", "late.", "—", "?"],
        ["interesting"] * 40,  # six hundred symbols: said in parts
    ],
)
def test_silent_words_and_very_many_have_their_places(words):
    utterance = said(words, rate=7.0)
    assert [onset.word for onset in utterance.onsets] == list(range(len(words)))
    samples = [onset.sample for onset in utterance.onsets]
    assert samples == sorted(samples)
    assert samples[-1] < len(utterance.pcm)


def test_a_long_reply_takes_no_more_memory_than_a_short_one():
    """Plans and windows that are too old to be taken back are forgotten."""
    sentence = ["It", "is", "late,", "and", "we", "go", "home", "now."]
    counts, position = [], 0
    kokoro()
    gc.collect()
    gc.freeze()  # the millions of objects of other tests: going through them takes many seconds
    with laws.open_session(kokoro(), rate=7.0) as session:
        for _ in range(6):
            push(session, sentence, ended=False)
            position += sum(len(frame.pcm) for frame in laws.drain(session))
            gc.collect()
            counts.append(sum(type(each) is Plan for each in gc.get_objects()))
        end = session.rewind(0)
    gc.unfreeze()
    assert max(counts[3:]) <= max(counts[:3])
    assert position - end < 6 * SAMPLE_RATE < position


def test_a_new_rate_is_heard_at_once_or_from_where_the_host_says():
    """What was made at the old one and is not given out yet is made again; of that a rewind leaves
    what comes before its place.
    """
    steady = said(FEW, 2.0)
    for back, shorter in ((False, 0.5), (True, 0.8)):
        with laws.open_session(kokoro(), rate=2.0) as session:
            push(session, FEW)
            given = end = sum(len(session.step().pcm) for _ in range(10))
            session.rate = 6.0
            if back:
                end = session.rewind(given + SAMPLE_RATE // 4)
                assert given < end
            rest = np.concatenate([frame.pcm for frame in laws.drain(session)])
        assert np.array_equal(rest[: end - given], steady.pcm[given:end])
        assert len(rest) < shorter * (len(steady.pcm) - given)


def test_a_new_rate_plans_the_words_known_next_too(monkeypatch):
    """One plan instead of two: what is made again has to come in time."""
    planned: list[int] = []

    def counted(parts: Parts, speaker: Any, request: PlanRequest, *rest: Any) -> Plan:
        planned.append(len(request.words))
        return make_plan(parts, speaker, request, *rest)

    monkeypatch.setattr(session_of_kokoro, "make_plan", counted)
    with laws.open_session(kokoro(), rate=2.0) as session:
        push(session, FEW)
        session.step()
        before = len(planned)
        assert planned[-1] < len(FEW)
        session.rate = 6.0
        while len(planned) == before:
            session.step()
        assert planned[before] > planned[before - 1]


def test_a_british_voice_speaks_british_phones():
    """The same style in two kinds of English: the words that differ sound otherwise."""
    american, british = (
        speak(kokoro().open(small_voice(language), seed=1), ["Go", "home."])
        for language in ("en-us", "en-gb")
    )
    one, other = (laws.Utterance(tuple(frames)).pcm for frames in (american, british))
    assert len(one) != len(other) or not np.array_equal(one, other)


@pytest.mark.parametrize("language", SENTENCES)
def test_another_language_is_the_same_word_by_word_and_after_a_rewind(language):
    model = small(voice=small_voice(language))
    words = tuple(SENTENCES[language][0].split()[:4])
    everything = say_all_at_once(model, words)
    laws.assert_same(laws.say(model, [[word] for word in words]), everything)
    laws.assert_same(
        laws.rewound(model, 9, SAMPLE_RATE // 2, rate=4.0, words=words),
        laws.say(model, [words], rate=4.0),
    )


@pytest.mark.parametrize(("language", "known"), [("en-us", True), ("es", False)])
def test_english_words_divide_english_sentences_alone(monkeypatch, language, known):
    """Spanish "he" begins no clause."""
    seen: list[bool] = []

    def watched(*args: Any, texts: Sequence[str], **values: Any) -> Any:
        seen.append(bool(texts))
        return next_words(*args, texts=texts, **values)

    monkeypatch.setattr(session_of_kokoro, "next_words", watched)
    assert speak(kokoro().open(small_voice(language), seed=1), ["Ya", "he", "ido."])
    assert any(seen) is known


# ------------------------------------------------------------------ rate and silence


@pytest.fixture
def unheard(monkeypatch) -> None:
    """Plans alone: what would be rendered is one level, and words begin where they are planned."""

    def level(parts: Parts, given: Any, plan: Plan, first: int, last: int) -> np.ndarray:
        return np.full(FRAME * (last - first), 0.1, np.float32)

    monkeypatch.setattr(session_of_kokoro, "render", level)
    monkeypatch.setattr(Plan, "heard_onsets", Plan.onsets)


PARAGRAPH = (
    "The other animal is a little bigger. We never heard about it in the city. "
    "It was a very simple idea after all. They carried the table over the river. "
) * 3


VERY_SHORT = (
    "It is late. The teacher wrote it on the board. He came back home. We will go home at seven. "
    "They left this morning. I saw him by the lake. I see you. She is my sister. "
    "We never heard about it here. The dog is old. "
) * 2


ONE = "Yes. Stop. Look. Go. Right. Sure. Wait. Good. Fine. Please. " * 2
TWO = "I know. Come here. Sit down. Not yet. All right. Go home. Thank you. Well done. " * 2
THREE = (
    "It is late. We can go. I see you. That was good. Take the car. He is here. She likes tea. "
    "Shut the door. "
) * 2
MIXED = (
    "Wait. All right. I see you. We sold the car. She is my sister. We will go home at six. Good. "
    "Not yet. She likes tea. It rains a lot. "
) * 2
SIX = (
    "We will go home at six. The train was very late. I saw him by the lake. It is a cold morning. "
    "She has a small red car. They want to buy a house. "
) * 2


def rate_of_words(words: Sequence[str], onsets: dict[int, int], first: int, last: int) -> float:
    """SPS from one word's onset to another's."""
    syllables = sum(word.syllables for word in phoned(" ".join(words))[first:last])
    return syllables * SAMPLE_RATE / (onsets[last] - onsets[first])


@pytest.mark.usefixtures("unheard")
@pytest.mark.parametrize(
    ("text", "rates"),
    [
        (ONE, [1.0, 2.0, 3.0]),
        (TWO, [1.0, 2.0, 3.0, 4.0, 5.0]),
        (THREE, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (MIXED, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        (SIX, [1.0, 6.0, 7.0]),
        (VERY_SHORT, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        (PARAGRAPH, [3.5, 4.0, 5.0]),
    ],
    ids=["one syllable", "two", "three", "one to six", "six", "three to eight", "a paragraph"],
)
def test_sentences_of_few_syllables_have_their_rate(text, rates):
    words = text.split()
    for rate in rates:
        onsets = {onset.word: onset.sample for onset in said(words, rate).onsets}
        assert rate_of_words(words, onsets, 0, len(words) - 1) == pytest.approx(rate, rel=0.02)


@pytest.mark.usefixtures("unheard")
@pytest.mark.parametrize(("text", "least"), [(ONE, 4.5), (TWO, 5.6), (THREE, 6.7), (MIXED, 6.4)])
def test_sentences_too_short_for_the_rate_are_as_quick_as_they_can_and_the_meter_says_so(
    text, least
):
    words = text.split()
    utterance = said(words, 7.0)
    onsets = {onset.word: onset.sample for onset in utterance.onsets}
    rate = rate_of_words(words, onsets, 0, len(words) - 1)
    assert rate >= least
    assert utterance.frames[-1].mean == pytest.approx(rate, rel=0.04)


@pytest.mark.usefixtures("unheard")
@pytest.mark.parametrize("text", [TWO, THREE, MIXED, SIX, VERY_SHORT])
def test_short_sentences_have_each_rate_of_a_moving_slider(text):
    words = (text * 3).split()
    moves = [(len(words) // 3, 6.0), (2 * len(words) // 3, 4.0)]
    began: list[int] = [0]  # the first word at each rate
    onsets: dict[int, int] = {}
    with laws.open_session(kokoro(), rate=3.0) as session:
        push(session, words)
        while isinstance(step := session.step(), AudioFrame):
            onsets |= {onset.word: onset.sample for onset in step.onsets}
            if moves and max(onsets, default=0) >= moves[0][0]:
                began.append(max(onsets) + 1)
                session.rate = moves.pop(0)[1]
    ends = [began[1] - 1, began[2] - 1, len(words) - 1]
    for rate, first, last in zip((3.0, 6.0, 4.0), began, ends, strict=True):
        assert rate_of_words(words, onsets, first, last) == pytest.approx(rate, rel=0.02)


@pytest.mark.usefixtures("unheard")
def test_the_silence_between_sentences_is_not_cut_at_the_own_rate():
    """Nor at a slow one."""
    gaps = [
        np.diff(np.flatnonzero(said(["No.", "We", "are", "late."], rate).pcm)).max()
        for rate in (None, 2.0, 7.0)
    ]
    assert gaps[0] > gaps[2]
    assert gaps[1] > gaps[2]


@pytest.mark.usefixtures("unheard")
@settings(max_examples=12)
@given(
    st.lists(st.sampled_from([*FEW[:-1], "internationalization"]), min_size=4, max_size=10),
    st.lists(st.floats(1.0, 7.0), min_size=2, max_size=4),
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
    st.integers(0, 2**16),
)
def test_no_silence_is_long_however_words_come_and_the_slider_moves(words, rates, arrivals, seed):
    draw = random.Random(seed)
    waiting = [word.strip(":.") for word in words]
    with laws.open_session(kokoro(), rate=rates[0]) as session:
        listener = Listener(session)
        for number in range(60):
            for _ in range(arrivals[number % len(arrivals)]):
                if waiting:
                    session.push_word(waiting.pop(0))
            if draw.random() < 0.2:
                session.rate = draw.choice(rates)
                listener.back(len(listener.pcm) - draw.randrange(SAMPLE_RATE // 4))
            listener.step()
        push(session, waiting)
        while listener.step():
            pass
    sounding = np.flatnonzero(listener.pcm)
    # In a pause of 1 s, 0.2 s are spoken: here at a level.
    assert np.diff(sounding).max() <= 1.0 * SAMPLE_RATE


@pytest.mark.parametrize("word", ["w" * 80, "7" * 70])
def test_a_word_with_more_symbols_than_the_graph_takes_is_said_in_parts(word):
    """And begins once."""
    utterance = said(["Look:", word, "there."], 7.0)
    assert [onset.word for onset in utterance.onsets] == [0, 1, 2]
    assert utterance.onsets[2].sample - utterance.onsets[1].sample > 5 * SAMPLE_RATE


def test_the_rate_that_is_told_is_that_since_the_move():
    with laws.open_session(kokoro(), rate=2.0) as session:
        push(session, FEW[:-1] * 3)
        frames = [session.step() for _ in range(50)]
        session.rate = 6.0
        rest = laws.drain(session)
    assert isinstance(frames[-1], AudioFrame)
    assert frames[-1].rate == pytest.approx(2.0, rel=0.2)
    moved = [frame.rate for frame in rest]
    assert moved[0] is None
    told = [rate for rate in moved if rate is not None]
    assert told[-1] == pytest.approx(6.0, rel=0.15)
    assert rest[-1].mean is not None
    assert 2.0 < rest[-1].mean < 5.9


# ------------------------------------------------------------------ back


class Listener:
    """Takes frames as the program does: after a rewind, what came behind its end is not heard."""

    def __init__(self, session: TtsSession) -> None:
        self.session = session
        self.pcm = np.zeros(0, np.float32)
        self.onsets: list[Onset] = []
        self.rates: dict[int, float | None] = {}  # measured, by the sample a frame ends at

    def step(self) -> bool:
        step = self.session.step()
        if not isinstance(step, AudioFrame):
            assert step in (Starved(), Finished())
            return False
        assert step.sample == len(self.pcm)
        self.pcm = np.concatenate([self.pcm, step.pcm])
        self.onsets += step.onsets
        self.rates[len(self.pcm)] = step.rate
        return True

    def back(self, sample: int) -> None:
        end = self.session.rewind(sample)
        if end is not None:
            assert sample <= end  # which can lie in what was made and not given out
            self.pcm = self.pcm[:end]
            self.onsets = [onset for onset in self.onsets if onset.sample < end]


@pytest.mark.parametrize("seed", range(4))
def test_words_stay_in_order_however_often_it_is_taken_back(seed):
    draw = random.Random(seed)
    waiting = list(FEW)
    with laws.open_session(kokoro()) as session:
        listener = Listener(session)
        for _ in range(60):
            match draw.randrange(5):
                case 0:
                    session.rate = draw.choice([None, 1.0, 2.0, 4.0, 7.0])
                case 1:
                    listener.back(len(listener.pcm) - draw.randrange(2 * SAMPLE_RATE))
                case 2 if waiting:
                    session.push_word(waiting.pop(0))
                case _:
                    listener.step()
        push(session, waiting)
        while listener.step():
            pass
        assert session.step() == Finished()
    assert [onset.word for onset in listener.onsets] == list(range(len(FEW)))
    samples = [onset.sample for onset in listener.onsets]
    assert samples == sorted(samples)
    assert samples[-1] < len(listener.pcm)
    assert np.abs(listener.pcm).max() <= 1


@pytest.mark.parametrize("rate", [None, 1.5])
def test_taken_back_anywhere_it_goes_on_as_before(rate):
    """Also in the pauses of slow speech, at its start, in its last sound, and twice."""
    steady = said(FEW, rate)
    draw = random.Random(3)
    with laws.open_session(kokoro(), rate=rate) as session:
        push(session, FEW)
        listener = Listener(session)
        while listener.step():
            if draw.random() < 0.2:  # by a quarter of what it goes on, on average
                listener.back(len(listener.pcm) - draw.randrange(SAMPLE_RATE // 5))
    assert np.array_equal(listener.pcm, steady.pcm)
    assert tuple(listener.onsets) == steady.onsets
    rates = {frame.sample + len(frame.pcm): frame.rate for frame in steady.frames}
    same = rates.keys() & listener.rates.keys()
    for end in same:  # a part of a syllable counts by its planned end, which later words can move
        assert (rates[end] or 0.0) == pytest.approx(listener.rates[end] or 0.0, rel=0.01)
