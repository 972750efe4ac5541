"""Kokoro with its real weights, out of its packages: the laws, and what a listener understands."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.codec.mel import MelSpectrum
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.training.evaluation.voices import WhisperJudge, say, words_wrong
from engine.tts import registry
from engine.tts.base import AudioFrame, TtsModel, Voice
from engine.tts.kokoro.parts import FRAME, load_parts
from engine.tts.kokoro.plan import Speaker, make_plan
from engine.tts.kokoro.statistics import sentences_in, statistics
from engine.tts.kokoro.voices import accent_of, model_file, read_voices, style_of, voices_folder
from engine.tts.kokoro.windows import render
from tests.engine.text.test_other_languages import SENTENCES
from tests.engine.tts import laws
from tests.engine.tts.kokoro.small import of_graph, phoned, plan_request, sentences
from tests.engine.tts.utterances import assert_same, say_all_at_once
from tests.help.machine.packaged import FOLDER, packaged_asset

pytestmark = [pytest.mark.weights, pytest.mark.timeout(1200)]

AUDIO = "/decoder/Reshape_output_0"


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """A data folder of the program's with Kokoro in it."""
    data = FOLDER / "data"
    for name in ("kokoro", "kokoro-voices"):
        packaged_asset(name, f"data/models/{name}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUBATO_DATA", str(data))
        yield data


@pytest.fixture(scope="module")
def model(data) -> Iterator[TtsModel]:
    loaded = registry.load(SpeechSettings(engine="kokoro"), lambda text, fraction: None)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def judge() -> WhisperJudge:
    return WhisperJudge(packaged_asset("whisper-base"))


@pytest.mark.parametrize("law", [*laws.LAWS, *laws.LAWS_OF_SPEECH], ids=lambda law: law.__name__)
def test_a_session_obeys(law, model):
    law(model)


# ------------------------------------------------------------------ other languages


class OneVoice:
    """The model with one of its voices alone."""

    def __init__(self, model: TtsModel, name: str) -> None:
        self._model = model
        self.voice = next(voice for voice in model.voices() if voice.name == name)

    def voices(self) -> tuple[Voice, ...]:
        return (self.voice,)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


@pytest.fixture(params=["Dora", "Chiara", "Dorinha", "Sylvie"])
def other(request, model) -> OneVoice:
    return OneVoice(model, request.param)


@pytest.mark.parametrize(
    "law",
    [
        laws.steps_between_pushes_do_not_matter,
        laws.every_word_has_one_onset_in_order,
        laws.a_rewind_changes_nothing_at_the_same_rate,
        laws.what_was_made_before_a_rewind_is_not_heard_in_what_follows,
        laws.a_new_rate_changes_later_words_only,
        laws.strange_words_do_no_harm,
    ],
    ids=lambda law: law.__name__,
)
def test_a_session_in_another_language_obeys(law, other):
    law(other)


def test_another_language_word_by_word_equals_all_at_once(other):
    words = tuple(" ".join(SENTENCES[accent_of(other.voice)][:2]).split())
    everything = say_all_at_once(other, words)
    assert len(everything.pcm) > 3 * other.info.sample_rate
    assert_same(laws.say(other, [[word] for word in words]), everything)


def test_another_language_is_understood(other):
    judge = WhisperJudge(packaged_asset("whisper-base"), other.voice.language)
    accent = accent_of(other.voice)
    wrong = words = 0
    for text in SENTENCES[accent]:
        spoken = say(other, other.voice, text)
        heard = judge.hear(spoken.pcm, spoken.sample_rate)
        wrong += words_wrong(text.casefold(), heard.casefold(), Espeak(accent))
        words += len(text.split())
    assert wrong <= 0.2 * words


# ------------------------------------------------------------------ what is understood


@pytest.mark.parametrize(
    ("name", "rate", "most"),
    [("Heart", None, 0.06), ("Heart", 2.0, 0.08), ("Heart", 6.0, 0.08), ("Emma", None, 0.06)],
)
def test_it_is_understood(model, judge, name, rate, most):
    """Share of words wrong in twenty sentences (Whisper base), word by word."""
    espeak = Espeak()
    voice = next(voice for voice in model.voices() if voice.name == name)
    wrong = words = 0
    for text in sentences(20, seed=37):
        spoken = say(model, voice, text, rate)
        assert spoken.ended
        wrong += words_wrong(text, judge.hear(spoken.pcm, spoken.sample_rate), espeak)
        words += len(text.split())
    assert wrong <= most * words


# ------------------------------------------------------------------ rate, silence, edges


PARAGRAPH = (
    "The cat sat on the old mat. We will go home at seven. She has a small red motor. "
    "It is a cold day again. I saw him by the river. They want to buy a garden."
)


def levels(pcm: np.ndarray, sample_rate: int) -> np.ndarray:
    """Of every 10 ms, against the loudest."""
    size = sample_rate // 100
    each = np.sqrt(np.square(pcm[: len(pcm) // size * size].reshape(-1, size)).mean(1))
    return each / each.max()


@pytest.mark.parametrize("rate", [4.0, 6.0])
def test_a_paragraph_of_short_sentences_has_its_rate(model, rate):
    pcm = laws.say(model, [PARAGRAPH.split()], rate=rate).pcm
    sounding = np.flatnonzero(levels(pcm, model.info.sample_rate) > 10 ** (-35 / 20))
    syllables = sum(word.syllables for word in phoned(PARAGRAPH))
    assert syllables / (0.01 * (sounding[-1] + 1 - sounding[0])) == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize("rates", [(1.0, 1.0), (2.0, 2.0), (7.0, 1.0), (1.0, 3.0)])
def test_no_silence_inside_a_sentence_is_long(model, rates):
    """The rate changes after 0.6 s."""
    text = (
        "Unfortunately, the internationalization is closed to all who asked, because the "
        "electroencephalography was normal"
    )
    with laws.open_session(model, rate=rates[0]) as session:
        laws.push(session, text.split())
        pieces: list[np.ndarray] = []
        while isinstance(step := session.step(), AudioFrame):
            pieces.append(step.pcm)
            if sum(map(len, pieces)) > 0.6 * model.info.sample_rate:
                session.rate = rates[1]
    sounding = np.flatnonzero(levels(np.concatenate(pieces), model.info.sample_rate) > 0.01)
    assert np.diff(sounding).max() * 0.01 <= 1.2


def test_every_voice_begins_from_silence(model):
    for voice in model.voices():
        with model.open(voice, seed=1) as session:
            laws.push(session, ["No."])
            step = session.step()
        assert isinstance(step, AudioFrame)
        assert abs(step.pcm[0]) < 0.005, voice.name
        assert np.abs(np.diff(step.pcm[:24])).max() < 0.02, voice.name


# ------------------------------------------------------------------ the decoder


def test_it_sounds_like_the_published_graph(data, tmp_path):
    """Distance of the spectra in dB, where the published one is not silent. With the norms of the
    sentence itself, the decoder alone differs (2.1 dB when this was written); with the voice's,
    the sound is a little another one (5.4 dB). A frame later it is 9.7 dB.
    """
    file = model_file()
    parts, style = load_parts(file), style_of(read_voices(voices_folder())[0])
    known = [phoned(text) for text in sentences_in("en")]
    learnt = statistics(parts, style, known, file.parent / "learnt", accent="en-us")
    speaker = Speaker(style, accent="en-us", own_rate=learnt[1])
    plan = make_plan(parts, speaker, plan_request(phoned("It is windy by the river.")), None, 0)
    own = statistics(parts, style, [plan.request.words], tmp_path, accent="en-us")
    whole, exact = (render(parts, norms[0], plan, 0, len(plan.features)) for norms in (learnt, own))
    (expected,) = of_graph(file, style, plan, AUDIO)
    assert len(expected) == len(whole)
    assert spectral_distance(expected, exact) < 3.0
    assert spectral_distance(expected, whole) < 7.0
    assert spectral_distance(expected[FRAME:], exact[:-FRAME]) > 7.0


def spectral_distance(one: np.ndarray, other: np.ndarray) -> float:
    mels = [MelSpectrum()(torch.from_numpy(pcm)[None])[0] for pcm in (one, other)]  # [T, bands]
    levels = [mel * 20 / math.log(10) for mel in mels]
    loud = levels[0].amax(1) > levels[0].max() - 40
    return float((levels[0] - levels[1])[loud].square().mean(1).sqrt().mean())
