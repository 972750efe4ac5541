"""Laws of an utterance, on a small model with random weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.errors import InvalidInput
from engine.tts.base import AudioFrame, Finished, Starved, Voice
from engine.tts.voxtream.alignment import Span
from engine.tts.voxtream.config import INT8
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.voxtream.small_model import (
    SMALL,
    rest,
    small,
    speak,
    speak_by_word,
    until_starved,
)

WORDS = ["Hello", "world,", "this", "is", "the", "apple", "of", "my", "eye.", "Really?!"]


def samples(frames: list[AudioFrame]) -> np.ndarray:
    return np.concatenate([frame.pcm for frame in frames])


def test_the_seed_decides_the_samples(synthesiser: VoxtreamSynthesiser, voice: Voice) -> None:
    said = []
    for seed in (1, 1, 2):
        with synthesiser.open(voice, seed=seed) as session:
            said.append(samples(speak(session, WORDS[:4])))
    assert np.array_equal(said[0], said[1])
    assert not np.array_equal(said[0][: 1920 * 3], said[2][: 1920 * 3])


def test_it_starves_without_words_and_goes_on_when_they_come(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    with synthesiser.open(voice, seed=1) as session:
        assert isinstance(session.step(), Starved)
        session.push_word("Hi")  # two phones: not enough to begin
        assert isinstance(session.step(), Starved)
        session.push_word("everybody")
        assert isinstance(session.step(), AudioFrame)
        until_starved(session)
        assert isinstance(session.step(), Starved)
        session.end_input()
        assert rest(session)
        assert isinstance(session.step(), Finished)


def test_a_higher_rate_is_spoken_in_fewer_frames(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    lengths = []
    for rate in (1.0, 7.0):
        with synthesiser.open(voice, seed=6) as session:
            session.rate = rate
            lengths.append(len(speak(session, WORDS * 2)))
    assert lengths[1] < lengths[0]


def test_slow_words_take_more_frames_at_a_rate_and_at_the_models_own_pace(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    def frames(rate: float | None, pace: float) -> int:
        with synthesiser.open(voice, seed=6) as session:
            session.rate = rate
            for number, word in enumerate(WORDS * 4):
                session.push_word(word, 1.0 if number < 2 * len(WORDS) else pace)
            session.end_input()
            return len(rest(session))

    assert frames(4.0, 0.3) > frames(4.0, 1.0)
    assert frames(None, 0.2) > frames(None, 1.0)


def test_without_paced_words_the_own_pace_is_left_alone(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    def said(late_pace: float) -> list[np.ndarray]:
        with synthesiser.open(voice, seed=6) as session:
            for word in WORDS * 2:
                session.push_word(word)
            session.push_word("end", late_pace)
            session.end_input()
            return [frame.pcm for frame in rest(session)]

    plain, paced = said(1.0), said(0.5)
    alike = [np.array_equal(a, b) for a, b in zip(plain, paced, strict=False)]
    assert all(alike[: len(plain) // 2])


def test_text_longer_than_the_window_goes_on_to_its_end(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    words = WORDS * 5  # about 135 phones; the window holds 96 columns
    with synthesiser.open(voice, seed=3) as session:
        session.rate = 3.0
        frames = speak(session, words)
    assert len(frames) > 1.5 * SMALL.audio_window
    assert sum(len(frame.onsets) for frame in frames) == len(words)


def test_text_without_a_sound_is_one_silent_frame(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    with synthesiser.open(voice, seed=3) as session:
        (frame,) = speak(session, ["—", "?!"])
    assert not frame.pcm.any()
    assert [onset.word for onset in frame.onsets] == [0, 1]


def test_a_rate_that_is_no_number_is_refused(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    with synthesiser.open(voice, seed=3) as session, pytest.raises(InvalidInput, match="rate"):
        session.rate = float("nan")


def test_a_voice_of_another_model_or_of_broken_numbers_is_refused(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    with pytest.raises(InvalidInput, match="was made for 'espeak'"):
        synthesiser.open(replace(voice, model="espeak"), seed=0)
    codes = np.full((4, 5), 2048, np.int16)
    with pytest.raises(InvalidInput, match="codes"):
        synthesiser.open(replace(voice, tensors={**voice.tensors, "codes": codes}), seed=0)
    with pytest.raises(InvalidInput, match="holds no 'speaker'"):
        synthesiser.open(replace(voice, tensors={"codes": voice.tensors["codes"]}), seed=0)
    speaker = np.full(192, np.nan, np.float32)
    with pytest.raises(InvalidInput, match="'speaker' of shape"):
        synthesiser.open(replace(voice, tensors={**voice.tensors, "speaker": speaker}), seed=0)


def test_a_packed_profile_speaks_too(voice: Voice) -> None:
    packed = small(INT8)
    with packed.open(voice, seed=3) as session:
        first = speak(session, WORDS)
    with packed.open(voice, seed=3) as session:
        again = speak(session, WORDS)
    assert np.array_equal(samples(first), samples(again))
    assert sum(len(frame.onsets) for frame in first) == len(WORDS)


def test_random_weights_say_that_they_are_random(synthesiser: VoxtreamSynthesiser) -> None:
    assert "RANDOM" in synthesiser.info.name


def test_the_global_generator_is_neither_read_nor_moved(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    before = torch.random.get_rng_state()
    with synthesiser.open(voice, seed=3) as session:
        speak(session, WORDS[:3])
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.fixture(scope="module")
def stretching() -> VoxtreamSynthesiser:
    """Its network is asked for 2.5 to 3 SPS; the rest is stretched."""
    plain = small()
    generation = replace(plain._parts.generation, lowest_rate=2.5, highest_rate=3.0)
    parts = replace(plain._parts, generation=generation)
    return VoxtreamSynthesiser(parts, plain._speaker, plain.voices(), plain.info.name)


def said(model: VoxtreamSynthesiser, rate: float | None) -> list[AudioFrame]:
    with model.open(model.voices()[0], seed=3) as session:
        session.rate = rate
        return speak(session, WORDS)


def test_a_rate_beyond_the_network_is_reached_by_stretching(
    stretching: VoxtreamSynthesiser,
) -> None:
    lengths = {rate: len(samples(said(stretching, rate))) for rate in (1.5, 2.5, 3.0, 6.0)}
    assert lengths[3.0] / lengths[6.0] == pytest.approx(2.0, rel=0.1)
    assert lengths[1.5] / lengths[2.5] == pytest.approx(2.5 / 1.5, rel=0.1)


@pytest.mark.parametrize("rate", [1.5, 6.0])
def test_stretched_speech_is_the_same_word_by_word(
    stretching: VoxtreamSynthesiser, rate: float
) -> None:
    whole = said(stretching, rate)
    with stretching.open(stretching.voices()[0], seed=3) as session:
        session.rate = rate
        pieces = speak_by_word(session, WORDS)
    assert np.array_equal(samples(whole), samples(pieces))
    assert [frame.onsets for frame in whole] == [frame.onsets for frame in pieces]
    assert [o.word for frame in whole for o in frame.onsets] == list(range(len(WORDS)))
    for frame in whole:
        assert all(frame.sample <= o.sample < frame.sample + len(frame.pcm) for o in frame.onsets)


def test_its_own_pace_is_never_stretched(
    stretching: VoxtreamSynthesiser, synthesiser: VoxtreamSynthesiser
) -> None:
    assert np.array_equal(samples(said(stretching, None)), samples(said(synthesiser, None)))


def test_a_new_rate_is_heard_in_the_same_step(stretching: VoxtreamSynthesiser) -> None:
    with stretching.open(stretching.voices()[0], seed=3) as session:
        session.rate = 3.0
        for word in WORDS:
            session.push_word(word)
        steps = [session.step() for _ in range(6)]
        session.rate = 6.0
        quicker = session.step()
    assert all(isinstance(step, AudioFrame) for step in (*steps, quicker))
    assert len(quicker.pcm) < 0.7 * len(steps[-1].pcm)


def test_a_fixed_own_rate_is_what_that_rate_is(synthesiser: VoxtreamSynthesiser) -> None:
    parts = synthesiser._parts
    fixed = VoxtreamSynthesiser(
        replace(parts, generation=replace(parts.generation, own_rate=4.0)),
        synthesiser._speaker,
        synthesiser.voices(),
        synthesiser.info.name,
    )
    assert np.array_equal(samples(said(fixed, None)), samples(said(synthesiser, 4.0)))


def hearing(model: VoxtreamSynthesiser, frames: int, *, graphs: bool) -> VoxtreamSynthesiser:
    """The model with a codec that has heard so many frames of the prompt."""
    generation = replace(model._parts.generation, frames_heard=frames)
    model._parts.model.generation = generation
    parts = replace(model._parts, generation=generation)
    return VoxtreamSynthesiser(
        parts, model._speaker, model.voices(), model.info.name, graphs=graphs
    )


def test_the_codec_begins_behind_the_prompt() -> None:
    cold = samples(said(small(), 4.0))
    model = hearing(small(), 6, graphs=False)
    warm, again = samples(said(model, 4.0)), samples(said(model, 4.0))
    assert np.array_equal(warm, again)  # the kept stream is never written to
    assert len(warm) == len(cold)
    assert not np.allclose(warm[:1920], cold[:1920], atol=1e-4)
    in_place = samples(said(hearing(small(), 6, graphs=True), 4.0))
    assert np.allclose(warm, in_place, atol=1e-5)


def test_an_utterance_may_linger_on_the_last_phone_of_the_prompt(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    with synthesiser.open(voice, seed=1) as session:
        script, last = session._script, session._prompt.length - 1
        for text in WORDS:
            for word in session._phonemizer.push(text):
                script.add(word)
        script.close()
        lingering = Span(last, last)
        before = script.vector(lingering)
        script.forget_before(last)
        assert torch.equal(script.vector(lingering), before)
