"""What every synthesiser must obey, whatever it is made of: one function a law, each takes a loaded
model. test_laws.py holds every registered synthesiser to them.
"""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engine.audio.clips.clip import Clip
from engine.errors import InvalidInput, ModelError
from engine.tts.base import AudioFrame, Finished, RateRange, Starved, TtsModel
from engine.tts.voice_lookup import encode
from tests.engine.tts.utterances import (
    FEW,
    WORDS,
    Utterance,
    assert_same,
    drain,
    open_session,
    push,
    say,
    say_all_at_once,
)

# ------------------------------------------------------------------ the laws


def word_by_word_equals_all_at_once(model: TtsModel) -> None:
    """With the same seed, which so gives the same samples."""
    everything = say_all_at_once(model)
    assert len(everything.pcm) > model.info.sample_rate
    assert_same(say(model, [[word] for word in WORDS]), everything)


def chunking_does_not_matter(model: TtsModel) -> None:
    chooser, chunks = random.Random(1), [[]]
    for word in WORDS:
        chunks[-1].append(word)
        if chooser.random() < 0.5:
            chunks.append([])
    assert_same(say(model, chunks), say_all_at_once(model))


def steps_between_pushes_do_not_matter(model: TtsModel) -> None:
    frames = []
    with open_session(model) as session:
        for word in FEW:
            session.push_word(word)
            step = session.step()
            if isinstance(step, AudioFrame):
                frames.append(step)
        session.end_input()
        frames += drain(session)
    assert_same(Utterance(tuple(frames)), say_all_at_once(model, FEW))


def nothing_to_say_is_starved_and_passes_or_finishes(model: TtsModel) -> None:
    with open_session(model) as session:
        assert session.step() == Starved()
        assert session.step() == Starved()
        push(session, FEW, ended=False)
        assert drain(session)
        assert session.step() == Starved()
        session.end_input()
        drain(session)
        assert session.step() == Finished()
        assert session.step() == Finished()
    with open_session(model) as session:  # without words
        session.end_input()
        session.end_input()
        assert session.step() == Finished()


def what_is_not_one_word_and_words_after_the_end_are_refused(model: TtsModel) -> None:
    with open_session(model) as session:
        for text in ("", "two words", "tab\tbed", "line\n", " "):
            with pytest.raises(InvalidInput):
                session.push_word(text)
        push(session, ["One."])
        with pytest.raises(InvalidInput):
            session.push_word("two")
        assert drain(session)


def another_voice_no_rate_and_what_is_said_to_a_closed_session_are_refused(model: TtsModel) -> None:
    with pytest.raises(InvalidInput, match="another"):
        model.open(replace(model.voices()[0], model="another"), seed=0)
    session = open_session(model)
    for rate in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(InvalidInput, match="rate"):
            session.rate = rate
    assert session.rate is None
    session.push_word("Hello")
    session.close()
    assert session.step() == Finished()
    with pytest.raises(InvalidInput):
        session.push_word("again")


def text_without_a_sound_is_silent(model: TtsModel) -> None:
    utterance = say(model, [["...", "?!", "—"]])
    assert len(utterance.pcm) <= model.info.sample_rate // 10
    assert not utterance.pcm.any()
    assert [onset.word for onset in utterance.onsets] == [0, 1, 2]


def every_end_fades_and_every_beginning_rises(model: TtsModel) -> None:
    """The last 10 ms are below -50 dB, whatever was said and however it ends. The first sample is
    below 0.005 of full scale, and none is louder than -1 dB.
    """
    last = model.info.sample_rate // 100
    for text in ("Hi", "lemon", "Third.", "Is it you?", "No!", "well,", "(so)"):
        pcm = say(model, (text.split(),)).pcm
        assert np.sqrt(np.mean(np.square(pcm[-last:], dtype=np.float64))) < 10 ** (-50 / 20), text
    for text in ("No.", "aha", "Yes, I can."):
        pcm = say(model, (text.split(),)).pcm
        assert abs(pcm[0]) < 0.005, text
        assert np.abs(pcm).max() <= 10 ** (-1 / 20) + 1e-6, text


def frames_follow_each_other(model: TtsModel) -> None:
    position = 0
    for frame in say_all_at_once(model).frames:
        assert frame.pcm.dtype == np.float32
        assert frame.pcm.ndim == 1
        assert len(frame.pcm) > 0
        assert np.isfinite(frame.pcm).all()
        assert np.abs(frame.pcm).max() <= 1
        assert frame.sample == position
        position += len(frame.pcm)


def every_word_has_one_onset_in_order(model: TtsModel) -> None:
    utterance = say_all_at_once(model)
    assert [onset.word for onset in utterance.onsets] == list(range(len(WORDS)))
    samples = [onset.sample for onset in utterance.onsets]
    assert samples == sorted(samples)
    for frame in utterance.frames:
        for onset in frame.onsets:
            assert frame.sample <= onset.sample < frame.sample + len(frame.pcm)


def sessions_do_not_disturb_each_other(model: TtsModel) -> None:
    fast = model.info.rate_range.highest if model.info.rate_range else None
    alone = say_all_at_once(model, FEW), say(model, (FEW,), seed=8, rate=fast)
    frames: tuple[list[AudioFrame], list[AudioFrame]] = ([], [])
    one, two = open_session(model), open_session(model, seed=8, rate=fast)
    with one, two:
        for word in FEW:
            for session, taken in zip((one, two), frames, strict=True):
                session.push_word(word)
                taken += drain(session)
        for session, taken in zip((one, two), frames, strict=True):
            session.end_input()
            taken += drain(session)
    for taken, expected in zip(frames, alone, strict=True):
        assert_same(Utterance(tuple(taken)), expected)


def closing_at_any_moment_leaves_the_model_whole(model: TtsModel) -> None:
    whole = say_all_at_once(model, FEW)
    for steps in (0, 1, 2, 5):
        session = open_session(model)
        push(session, FEW[: steps + 1], ended=False)
        for _ in range(steps):
            session.step()
        session.close()
        session.close()
    assert_same(say(model, (FEW,)), whole)


def a_new_rate_changes_later_words_only(model: TtsModel) -> None:
    slow, fast = rate_range(model).lowest, rate_range(model).highest
    steady = say(model, rate=fast)
    with open_session(model, rate=fast) as session:
        push(session, WORDS)
        frames = [step for _ in range(8) if isinstance(step := session.step(), AudioFrame)]
        before = sum(len(frame.pcm) for frame in frames)
        session.rate = slow
        frames += drain(session)
    changed = Utterance(tuple(frames))
    assert np.array_equal(changed.pcm[:before], steady.pcm[:before])
    assert len(changed.pcm) > 1.3 * len(steady.pcm)


def a_rewind_changes_nothing_at_the_same_rate(model: TtsModel) -> None:
    steady = say(model, (FEW,), rate=4.0)
    second = model.info.sample_rate
    cases = [(ahead, back_s) for ahead in (9, 3, 1) for back_s in (1.0, 0.3, 0.1)]
    for ahead, back_s in cases if takes_back(model) else cases[:1]:
        assert_same(rewound(model, ahead, round(back_s * second), rate=4.0, words=FEW), steady)


def what_was_made_before_a_rewind_is_not_heard_in_what_follows(model: TtsModel) -> None:
    """For models that can take something back."""
    steady, second = say(model, rate=4.0), model.info.sample_rate
    for from_s in (0.5, 0.7, 1.1):
        behind = [rewound(model, steps, -round(from_s * second), rate=2.0) for steps in (20, 23)]
        assert_same(*behind)
        same = int(from_s * second)
        assert np.array_equal(behind[0].pcm[:same], steady.pcm[:same])


def nothing_is_taken_back_that_was_not_made(model: TtsModel) -> None:
    with open_session(model) as session:
        assert session.rewind(0) is None
        session.push_word("One.")
        made = sum(len(frame.pcm) for frame in drain(session))
        assert session.rewind(made) is None


def takes_back(model: TtsModel) -> bool:
    """Whether the model can take back what it has just said."""
    with open_session(model) as session:
        push(session, WORDS, ended=False)
        for _ in range(9):
            session.step()
        return session.rewind(0) is not None


def rewound(
    model: TtsModel, steps: int, sample: int, *, rate: float, words: tuple[str, ...] = WORDS
) -> Utterance:
    """Rewound once, after so many steps, to `sample`, or to so many before the end when it is
    positive; the rest at `rate`.
    """
    with open_session(model, rate=4.0) as session:
        push(session, words)
        made = [step for _ in range(steps) if isinstance(step := session.step(), AudioFrame)]
        before = Utterance(tuple(made))
        end = session.rewind(-sample if sample < 0 else len(before.pcm) - sample)
        session.rate = rate
        if end is None and sample < 0:
            pytest.skip("this model takes nothing back")
        if end is not None:
            kept = tuple(onset for onset in before.onsets if onset.sample < end)
            made = [AudioFrame(before.pcm[:end], 0, kept)]
        return Utterance((*made, *drain(session)))


def paces_are_the_same_word_by_word(model: TtsModel) -> None:
    whole, pieces = paced_words(model, by_word=False), paced_words(model, by_word=True)
    assert_same(whole, pieces)


def a_word_with_a_slow_pace_takes_longer_and_those_before_do_not(model: TtsModel) -> None:
    first = len(WORDS) // 2
    steady = say(model, rate=4.0)
    with open_session(model, rate=4.0) as session:
        for number, word in enumerate(WORDS):
            session.push_word(word, 1.0 if number < first else 0.6)
        session.end_input()
        slowed = Utterance(tuple(drain(session)))
    onset = steady.onsets[first].sample
    assert np.array_equal(slowed.pcm[: onset // 2], steady.pcm[: onset // 2])
    assert len(slowed.pcm) - onset > 1.3 * (len(steady.pcm) - onset)


def paced_words(model: TtsModel, *, by_word: bool) -> Utterance:
    """Every third word slow, every fourth quick."""
    frames = []
    with open_session(model, rate=4.0) as session:
        for number, word in enumerate(FEW):
            session.push_word(word, 0.75 if number % 3 == 0 else 1.1 if number % 4 == 0 else 1.0)
            frames += drain(session) if by_word else []
        session.end_input()
        frames += drain(session)
    return Utterance(tuple(frames))


def a_rate_out_of_range_is_clamped(model: TtsModel) -> None:
    limits = rate_range(model)
    for beyond, end in ((1000.0, limits.highest), (0.0, limits.lowest)):
        assert_same(say(model, (FEW[:5],), rate=beyond), say(model, (FEW[:5],), rate=end))


def strange_words_do_no_harm(model: TtsModel) -> None:
    markup = ("<speak>", "<mark/>", "[[f00]]", "&amp;", "%s%n", "\\")
    invisible = ("\x01", "\x00", "\ud800", "\u200b", "\u202eabc")
    symbols = ("—", "...", "!?!?", "'", "😀", "👩\u200d👧")
    foreign = ("日本語", "שלום", "e\u0301" * 9)
    endless = ("a" * 90, "9" * 5)  # the first has more phones than a small model's window holds
    strange = (*markup, *invisible, *symbols, *foreign, *endless)
    fastest = model.info.rate_range.highest if model.info.rate_range else None  # it takes long
    frames = say(model, [strange, ["fine."]], rate=fastest).frames
    assert all(np.isfinite(frame.pcm).all() for frame in frames)
    onsets = [onset.word for frame in frames for onset in frame.onsets]
    assert onsets == list(range(len(strange) + 1))


def a_model_tells_what_it_is_and_that_it_cannot_clone(model: TtsModel) -> None:
    assert model.info.sample_rate >= 8_000
    assert model.voices()
    assert all(voice.model == model.info.voice_model for voice in model.voices())
    names = [voice.name for voice in model.voices()]
    assert len(set(names)) == len(names)
    if not model.info.can_clone:
        with pytest.raises(ModelError, match="Kokoro can"):
            encode(model, Clip(np.zeros(16_000, np.float32), 16_000))


def the_rate_range_is_true(model: TtsModel) -> None:
    """Not for random weights: those cannot follow a rate."""
    limits = rate_range(model)
    for rate in (limits.lowest, (limits.lowest + limits.highest) / 2, limits.highest):
        frames = say(model, [WORDS * 2], rate=rate).frames
        start = 3 * model.info.sample_rate
        settled = [frame.rate for frame in frames if frame.rate and frame.sample > start]
        assert settled
        assert np.mean(settled) == pytest.approx(rate, rel=0.12)


def rate_range(model: TtsModel) -> RateRange:
    if model.info.rate_range is None:
        pytest.skip("this model cannot be told a rate")
    return model.info.rate_range


# They compare traces that differ in when words came: not for models that read ahead.
LAWS_WITHOUT_TIME: tuple[Callable[[TtsModel], None], ...] = (
    word_by_word_equals_all_at_once,
    chunking_does_not_matter,
    steps_between_pushes_do_not_matter,
    sessions_do_not_disturb_each_other,
    closing_at_any_moment_leaves_the_model_whole,
    a_rewind_changes_nothing_at_the_same_rate,
    paces_are_the_same_word_by_word,
)
# Not for the fake one.
OF_REAL_SPEAKERS: tuple[Callable[[TtsModel], None], ...] = (
    another_voice_no_rate_and_what_is_said_to_a_closed_session_are_refused,
    text_without_a_sound_is_silent,
)
# Every law a session obeys whatever its weights say.
LAWS: tuple[Callable[[TtsModel], None], ...] = (
    *LAWS_WITHOUT_TIME,
    *OF_REAL_SPEAKERS,
    nothing_to_say_is_starved_and_passes_or_finishes,
    what_is_not_one_word_and_words_after_the_end_are_refused,
    every_end_fades_and_every_beginning_rises,
    frames_follow_each_other,
    every_word_has_one_onset_in_order,
    a_new_rate_changes_later_words_only,
    nothing_is_taken_back_that_was_not_made,
    a_rate_out_of_range_is_clamped,
    strange_words_do_no_harm,
    a_model_tells_what_it_is_and_that_it_cannot_clone,
)
# What the code of a paper's system could break: all else is done by the base of the sessions, which
# VoXtream2, Kokoro and espeak hold to every law.
LAWS_OF_A_SYSTEM: tuple[Callable[[TtsModel], None], ...] = (
    word_by_word_equals_all_at_once,
    every_end_fades_and_every_beginning_rises,
    every_word_has_one_onset_in_order,
    sessions_do_not_disturb_each_other,
    closing_at_any_moment_leaves_the_model_whole,
    strange_words_do_no_harm,
)
# Laws about what is heard, for models that can really speak.
LAWS_OF_SPEECH: tuple[Callable[[TtsModel], None], ...] = (
    the_rate_range_is_true,
    what_was_made_before_a_rewind_is_not_heard_in_what_follows,
    a_word_with_a_slow_pace_takes_longer_and_those_before_do_not,
)
