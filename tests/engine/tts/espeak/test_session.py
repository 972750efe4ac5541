"""What a person hears of the formant voice: pace, pauses, melody, no clicks."""

from collections.abc import Iterator

import numpy as np
import pytest

from engine.tts.base import Pcm, Starved
from engine.tts.espeak.cutting import FADE, Joiner, Span, stretch
from engine.tts.espeak.library import SAMPLE_RATE
from engine.tts.espeak.model import EspeakModel
from tests.benchmarks.formant_rates import TEXTS, measure
from tests.engine.tts.utterances import drain, longest_silence, say, speak


@pytest.fixture
def model() -> Iterator[EspeakModel]:
    loaded = EspeakModel()
    yield loaded
    loaded.close()


@pytest.mark.parametrize("rate", [2.0, 4.0, 6.0])
@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_the_rate_is_met_within_a_tenth(model, text, rate):
    assert measure(model, TEXTS[text], rate=rate) == pytest.approx(rate, rel=0.1)


@pytest.mark.parametrize("rate", [1.0, 2.0, 4.0, 7.0])
@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("Yes. No. Stop. Right. Good. Fine. Wait. Go. Sure. Why? When? Here. There. Now.", 0.15),
        ("Thank you. Of course. Not yet. Maybe. Come on. Get up. Try that. Okay.", 0.06),
        ("I like it. Come with me. That is true. Not at all. We can go. Try again.", 0.04),
        (
            "Who took my keys? They were right here. I looked under the sofa. I asked the children "
            "too. Peter said nothing. Maria laughed out loud. She had hidden them. It was only a "
            "joke. I did not find it funny. We still missed the bus.",
            0.02,
        ),
        (
            "Take a seat. Have some tea. Shut the door. Light the lamp. Draw a map. Call the cat. "
            "Feed the fish. Wash the car. Mow the lawn. Fix the roof.",
            0.02,
        ),
    ],
)
def test_short_sentences_come_near_the_rate(model, text, most, rate):
    assert measure(model, text, rate=rate) == pytest.approx(rate, rel=most)


def test_the_first_word_does_not_wait_and_a_reply_ends_without_a_pause(model):
    with model.open(model.voices()[0], seed=1) as session:
        session.push_word("Tomorrow")
        assert np.abs(session.step().pcm).max() > 0.01
    pcm = say(model, [["It", "is", "late."]]).pcm
    assert len(pcm) - np.flatnonzero(np.abs(pcm) > 0.002)[-1] < SAMPLE_RATE // 10


def test_nothing_of_a_closed_word_waits_for_the_next_word(model):
    with model.open(model.voices()[0], seed=1) as session:
        session.push_word("Yes.")
        before = np.concatenate([frame.pcm for frame in drain(session)])
        assert session.step() == Starved()
        session.push_word("No.")
        frames = drain(session)
    after = np.concatenate([frame.pcm for frame in frames])
    onset = next(onset.sample for frame in frames for onset in frame.onsets) - len(before)
    assert onset > 0.3 * SAMPLE_RATE
    assert np.abs(after[:onset]).max() < 0.01


def test_sentences_and_clauses_are_set_apart_and_words_are_not(model):
    def pause_before_second(text: str) -> int:
        utterance = say(model, [text.split()])
        onset = utterance.onsets[1].sample
        loud = np.flatnonzero(np.abs(utterance.pcm[:onset]) > 0.002)
        return onset - int(loud[-1])

    sentence, clause = pause_before_second("Yes. Many"), pause_before_second("Yes, many")
    none = pause_before_second("low many")
    assert sentence > clause + SAMPLE_RATE // 10
    assert clause > none + SAMPLE_RATE // 10
    assert none < SAMPLE_RATE // 50


@pytest.mark.parametrize("text", ["Well … then go.", "Go ! ? … on", 'So … " … " so', "I . . . go"])
def test_marks_on_their_own_make_no_long_silence(model, text):
    for rate in (1.0, 2.0):
        pcm = say(model, [text.split()], rate=rate).pcm
        assert longest_silence(pcm, SAMPLE_RATE) <= 1.2


def test_a_slow_rate_makes_no_long_silence_between_sentences(model):
    text = "It is a quarter past seven. We will see how cold it gets. Really? Yes. Good night."
    for rate in (1.0, 1.5):
        pcm = say(model, [text.split()], rate=rate).pcm
        assert 0.6 < longest_silence(pcm, SAMPLE_RATE) <= 1.2


def test_long_words_keep_to_a_slow_rate(model):
    """A gap of a second is not enough for five syllables."""
    text = "International organisations systematically investigate environmental sustainability"
    with model.open(model.voices()[0], seed=1) as session:
        session.rate = 1.0
        frames = speak(session, text.split())
        syllables = session.syllables
    pcm = np.concatenate([frame.pcm for frame in frames])
    assert syllables * SAMPLE_RATE / len(pcm) == pytest.approx(1.0, rel=0.1)
    assert longest_silence(pcm, SAMPLE_RATE) <= 1.2


def test_a_question_ends_higher_than_a_statement(model):
    def last_pitch(text: str) -> float:
        pcm = say(model, [text.split()]).pcm.astype(np.float64)
        voiced = np.flatnonzero(np.abs(pcm) > 0.03)[-1]
        part = pcm[voiced - 1500 : voiced]
        likeness = np.correlate(part, part, "full")[len(part) - 1 :]
        period = 80 + int(np.argmax(likeness[80:400]))
        return SAMPLE_RATE / period

    assert last_pitch("Is it in May?") > 1.1 * last_pitch("It is in May.")


def test_a_word_in_a_phrase_is_shorter_than_the_same_word_alone(model):
    phrase = say(model, [["we", "walk", "along", "the", "river", "now."]])
    along = phrase.onsets[3].sample - phrase.onsets[2].sample
    alone = len(say(model, [["along."]]).pcm)
    assert along < 0.8 * alone


@pytest.mark.parametrize("rate", [None, 1.5], ids=["own pace", "stretched"])
def test_joins_do_not_click(model, rate):
    utterance = say(model, rate=rate)
    steepness = np.abs(np.diff(utterance.pcm, 2))
    joins = [onset.sample for onset in utterance.onsets[1:]]
    near = np.zeros(len(steepness), bool)
    for sample in joins:
        near[max(0, sample - 130) : sample + 130] = True
    assert steepness[near].max() <= steepness[~near].max()


@pytest.mark.parametrize("rate", [None, 1.0, 2.0, 7.0])
def test_at_a_pause_no_step_is_heard(model, rate):
    """In front of a word, where it is silent for 50 ms; a closure inside a word is espeak's own."""
    text = (
        "She always laughs when evening rain arrives over our village, and nobody minds; early "
        "apples are aromatic. Zoo! Its six, ah. He, up. Seven?"
    )
    utterance = say(model, [text.split()], rate=rate)
    pcm = np.concatenate([np.zeros(1, np.float32), utterance.pcm])
    sounding = np.flatnonzero(pcm)
    assert abs(pcm[sounding[0]]) < 0.005
    pauses = 0
    for onset in utterance.onsets[1:]:
        place = int(np.searchsorted(sounding, onset.sample + 1 - FADE))
        before, after = sounding[place - 1 : place + 1]
        pauses += after - before > SAMPLE_RATE // 20
        if after - before > SAMPLE_RATE // 20:
            assert max(abs(pcm[before]), abs(pcm[after])) < 0.01
    assert pauses >= 3


# ------------------------------------------------------------------------------------------- joins


def tone(frequency: float, samples: int, phase: float = 0.0) -> Pcm:
    angle = 2 * np.pi * frequency / SAMPLE_RATE * np.arange(samples) + phase
    return (0.5 * np.sin(angle)).astype(np.float32)


def largest_step(pcm: Pcm) -> float:
    return float(np.abs(np.diff(pcm)).max())


def test_very_short_pieces_and_pauses_do_no_harm():
    joiner = Joiner()
    pcm = tone(150, 300)
    lengths = [len(joiner.append(Span(pcm, 299, 300))), len(joiner.pause(1))]
    lengths += [len(joiner.append(Span(pcm, 0, 3), 1.5)), len(joiner.append(Span(pcm, 298, 300)))]
    assert all(0 < length < 300 for length in lengths)


@pytest.mark.parametrize("factor", [1.0, 1.1, 1.37, 1.6, 2.0])
def test_stretching_makes_it_longer_by_that_factor(factor):
    pcm = tone(120, 9000)
    made = stretch(Span(pcm, 1000, 7000), factor)
    assert made.end == round(6000 * factor)
    assert factor > 1 or np.array_equal(made.pcm[: made.end], pcm[1000:7000])


@pytest.mark.parametrize("frequency", [70.0, 120.0, 233.0])
def test_stretching_keeps_the_pitch_and_the_level(frequency):
    pcm = tone(frequency, 12_000)
    slow = stretch(Span(pcm, 0, 11_000), 1.5)
    body = slow.pcm[: slow.end]
    spectrum = np.abs(np.fft.rfft(body * np.hanning(len(body))))
    assert np.argmax(spectrum) * SAMPLE_RATE / len(body) == pytest.approx(frequency, abs=2)
    assert np.std(body) == pytest.approx(np.std(pcm), rel=0.05)
    assert largest_step(body) < 1.3 * largest_step(pcm)
