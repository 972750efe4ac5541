"""libespeak-ng has one owner, and says the same for the same text."""

import ctypes
import gc
import random
import threading
from collections.abc import Callable

import numpy as np
import pytest

from engine.errors import EngineError, InvalidInput, ModelError, SynthesisError
from engine.tts.base import AudioFrame, Voice
from engine.tts.espeak import library, voices
from engine.tts.espeak.library import SAMPLE_RATE, Espeak
from engine.tts.espeak.model import EspeakModel


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


def test_the_same_text_gives_the_same_samples_whatever_was_said_before(espeak):
    text, chooser, said = "strong zebras asked whose boxes", random.Random(1), set()
    for _ in range(30):
        said.add(espeak.speak(text, voice="clara", words_per_minute=170).pcm.tobytes())
        espeak.speak(
            chooser.choice(["why not?", "mm", "the weather is fine", "ssss fff"]),
            voice=chooser.choice(["alan", "ruby", "clara", "victor"]),
            words_per_minute=chooser.randrange(80, 450),
        )
    assert len(said) == 1


def test_every_voice_speaks_without_clipping_and_like_no_other(espeak):
    text, spoken = "Strong beer always goes down badly! Hello there.", set()
    for voice in voices.VOICES:
        pcm = espeak.speak(text, voice=voices.file_name(voice), words_per_minute=175).pcm
        pcm = pcm * 10 ** (voice.gain_db / 20)
        assert 0.1 < np.abs(pcm).max() < 0.95, voice.name
        spoken.add(pcm.tobytes())
    assert len(spoken) == len(voices.VOICES)


@pytest.mark.parametrize(
    ("work", "kind", "said"),
    [
        (lambda it: it.speak("hi", voice="alan", words_per_minute=175), SynthesisError, "stranger"),
        (lambda _: EspeakModel(), ModelError, "in use"),
        (lambda it: it.release(), SynthesisError, ""),
    ],
    ids=["speaks", "claims", "releases"],
)
def test_another_thread_gets_a_clear_error_while_the_owner_lives(espeak, work, kind, said):
    error = in_another_thread(lambda: work(espeak))
    assert isinstance(error, kind)
    assert said in error.message


def test_claims_of_one_thread_share_the_library(espeak):
    second = Espeak.claim()
    assert second is espeak
    second.release()
    assert len(espeak.speak("still here", voice="alan", words_per_minute=175).pcm)


def test_after_the_last_release_or_the_owner_s_end_another_thread_may_own_it():
    Espeak.claim().release()
    assert in_another_thread(lambda: EspeakModel().close()) is None
    assert in_another_thread(EspeakModel) is None  # a thread that died and left it
    models: list[EspeakModel] = [EspeakModel()]
    with models[0].open(models[0].voices()[0], seed=1) as session:
        session.push_word("Free.")
        assert isinstance(session.step(), AudioFrame)
    models.pop().close()
    assert in_another_thread(lambda: models.append(EspeakModel())) is None
    models[0].close()  # by who joined that thread
    Espeak.claim().release()


def test_who_closes_what_a_dead_thread_left_does_not_end_it_under_its_next_owner():
    models: list[EspeakModel] = []
    assert in_another_thread(lambda: models.append(EspeakModel())) is None
    library = Espeak.claim()  # from the thread that died
    models[0].close()
    assert len(library.speak("still here", voice="alan", words_per_minute=175).pcm)
    assert Espeak.claim() is library
    library.release()
    library.release()


def test_a_missing_library_or_its_data_is_a_model_error(tmp_path, monkeypatch):
    def refuse(path: str) -> None:
        raise OSError("cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    with pytest.raises(ModelError, match="cannot open shared object"):
        EspeakModel()
    gc.collect(1)
    monkeypatch.undo()
    monkeypatch.setattr(library, "_data_folder", lambda: tmp_path)
    with pytest.raises(ModelError, match="data of the formant voice"):
        EspeakModel()


def test_a_runaway_is_cut_off(espeak, monkeypatch):
    monkeypatch.setattr(library, "MAX_SPEECH_SAMPLES", SAMPLE_RATE)
    speech = espeak.speak("word " * 200, voice="alan", words_per_minute=80)
    assert SAMPLE_RATE < len(speech.pcm) < 3 * SAMPLE_RATE
    assert len(espeak.speak("fine", voice="alan", words_per_minute=175).pcm)


def test_an_unknown_voice_is_refused_and_so_is_a_closed_model():
    model = EspeakModel()
    with pytest.raises(InvalidInput, match="Nemo"):
        model.open(Voice("Nemo", "espeak"), seed=1)
    model.close()
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.open(Voice("Alan", "espeak"), seed=1)


# -------------------------------------------------------------------------------------- its folder


def test_its_data_is_made_once_and_whole(tmp_path):
    source, within = library._data_folder(), tmp_path / "data"
    folder = voices.make_data_folder(source, within)
    names = {voices.file_name(voice) for voice in voices.VOICES}
    assert {each.name for each in (folder / "voices").iterdir()} == names
    written = (folder / "phondata").stat().st_mtime_ns
    assert voices.make_data_folder(source, within) == folder
    assert (folder / "phondata").stat().st_mtime_ns == written
    assert list(within.iterdir()) == [folder]


def test_a_folder_that_lost_a_part_is_made_again(tmp_path):
    folder = voices.make_data_folder(library._data_folder(), tmp_path)
    (folder / "voices" / "alan").unlink()
    assert voices.make_data_folder(library._data_folder(), tmp_path) == folder
    assert (folder / "voices" / "alan").is_file()


@pytest.mark.parametrize("deep", [False, True])
def test_it_speaks_where_the_data_folder_is_no_place_for_it(deep, tmp_path, monkeypatch):
    place = tmp_path / "/".join(["a folder with a long name"] * 7)
    if not deep:
        place.parent.mkdir(parents=True)
        place.touch()  # a file: nothing can be made in it
    monkeypatch.setattr(library, "data_folder", lambda: place)
    espeak = Espeak.claim()
    try:
        assert len(espeak.speak("fine", voice="alan", words_per_minute=175).pcm)
    finally:
        espeak.release()


def test_two_processes_may_make_it_at_once(tmp_path):
    folder = voices.make_data_folder(library._data_folder(), tmp_path)
    voices._make(folder, {"late": b""})
    assert not (folder / "late").exists()
    assert list(tmp_path.iterdir()) == [folder]


def test_a_full_disk_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="data of the formant voice"):
        voices.make_data_folder(library._data_folder(), tmp_path / "file")
