"""libespeak-ng has one owner, and says the same for the same text."""

import ctypes
import gc
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EngineError, InvalidInput, ModelError, SynthesisError
from engine.tts.base import AudioFrame, Voice
from engine.tts.espeak import library, voices
from engine.tts.espeak.library import SAMPLE_RATE, Espeak
from engine.tts.espeak.model import EspeakModel


@pytest.fixture
def espeak() -> Iterator[Espeak]:
    claimed = Espeak.claim()
    yield claimed
    claimed.release()


def in_another_thread(work: Callable[[], object]) -> EngineError | None:
    raised: list[EngineError] = []

    def run() -> None:
        try:
            work()
        except EngineError as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="stranger")
    thread.start()
    thread.join()
    return raised[0] if raised else None


def test_words_and_phones_are_marked_in_order(espeak: Espeak) -> None:
    speech = espeak.speak("seven boats sail", voice="alan", words_per_minute=175)
    assert [mark.character for mark in speech.words] == [0, 6, 12]
    samples = [phone.sample for phone in speech.phones]
    assert samples == sorted(samples)
    assert samples[-1] <= len(speech.pcm)
    assert "".join(phone.ipa for phone in speech.phones) == "sˈɛvənbˈoʊtssˈeɪl"  # noqa: RUF001  IPA


def test_the_same_text_gives_the_same_samples_whatever_was_said_before(espeak: Espeak) -> None:
    def say() -> np.ndarray:
        return espeak.speak(
            "strong zebras asked whose boxes", voice="clara", words_per_minute=170
        ).pcm

    first = say()
    chooser = random.Random(1)
    for _ in range(30):
        espeak.speak(
            chooser.choice(["why not?", "mm", "the weather is fine", "ssss fff"]),
            voice=chooser.choice(["alan", "ruby", "clara", "victor"]),
            words_per_minute=chooser.randrange(80, 450),
        )
        assert np.array_equal(say(), first)


@pytest.mark.parametrize("voice", voices.VOICES, ids=lambda voice: voice.name)
def test_every_voice_speaks_without_clipping_and_like_no_other(
    espeak: Espeak, voice: voices.FormantVoice
) -> None:
    text = "Strong beer always goes down badly! Hello there."
    spoken = {
        other.name: espeak.speak(text, voice=voices.file_name(other), words_per_minute=175).pcm
        * 10 ** (other.gain_db / 20)
        for other in voices.VOICES
    }
    mine = spoken.pop(voice.name)
    assert 0.1 < np.abs(mine).max() < 0.95
    assert not any(np.array_equal(mine, other) for other in spoken.values())


def test_faster_is_shorter(espeak: Espeak) -> None:
    lengths = [
        len(espeak.speak("over the hills and far away", voice="alan", words_per_minute=w).pcm)
        for w in (80, 120, 175, 300, 450)
    ]
    assert lengths == sorted(lengths, reverse=True)


def test_an_unknown_voice_is_refused_and_the_next_text_is_spoken(espeak: Espeak) -> None:
    with pytest.raises(SynthesisError, match="nobody"):
        espeak.speak("hello", voice="nobody", words_per_minute=175)
    assert len(espeak.speak("hello", voice="alan", words_per_minute=175).pcm)


def test_another_thread_gets_a_clear_error(espeak: Espeak) -> None:
    error = in_another_thread(lambda: espeak.speak("hi", voice="alan", words_per_minute=175))
    assert isinstance(error, SynthesisError)
    assert "stranger" in error.message


def test_another_thread_cannot_claim_while_the_owner_lives(espeak: Espeak) -> None:
    error = in_another_thread(EspeakModel)
    assert isinstance(error, ModelError)
    assert "in use" in error.message


def test_claims_of_one_thread_share_the_library(espeak: Espeak) -> None:
    second = Espeak.claim()
    assert second is espeak
    second.release()
    assert len(espeak.speak("still here", voice="alan", words_per_minute=175).pcm)


def test_after_the_last_release_another_thread_may_own_it() -> None:
    Espeak.claim().release()
    assert in_another_thread(lambda: EspeakModel().close()) is None


def test_a_library_left_by_a_thread_that_died_can_be_claimed() -> None:
    assert in_another_thread(EspeakModel) is None
    model = EspeakModel()
    with model.open(model.voices()[0], seed=1) as session:
        session.push_word("Free.")
        assert isinstance(session.step(), AudioFrame)
    model.close()


def test_what_a_thread_that_ended_has_loaded_can_be_closed_by_who_joined_it() -> None:
    models: list[EspeakModel] = []
    assert in_another_thread(lambda: models.append(EspeakModel())) is None
    models[0].close()
    Espeak.claim().release()


def test_another_thread_cannot_release_while_the_owner_lives(espeak: Espeak) -> None:
    assert isinstance(in_another_thread(espeak.release), SynthesisError)


def test_a_missing_library_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise OSError("cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    with pytest.raises(ModelError, match="cannot open shared object"):
        EspeakModel()
    gc.collect()


def test_missing_data_is_a_model_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_data_folder", lambda: tmp_path)
    with pytest.raises(ModelError, match="data of the formant voice"):
        EspeakModel()


def test_a_runaway_is_cut_off(espeak: Espeak, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MAX_SPEECH_SAMPLES", SAMPLE_RATE)
    speech = espeak.speak("word " * 200, voice="alan", words_per_minute=80)
    assert SAMPLE_RATE < len(speech.pcm) < 3 * SAMPLE_RATE
    assert len(espeak.speak("fine", voice="alan", words_per_minute=175).pcm)


def test_a_voice_of_another_model_or_an_unknown_name_is_refused() -> None:
    model = EspeakModel()
    with pytest.raises(InvalidInput, match="neural"):
        model.open(Voice("Alan", "neural"), seed=1)
    with pytest.raises(InvalidInput, match="Nemo"):
        model.open(Voice("Nemo", "espeak"), seed=1)
    model.close()
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.open(Voice("Alan", "espeak"), seed=1)
