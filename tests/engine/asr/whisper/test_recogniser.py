"""The recogniser around a real model that says SENTENCE to everything; what is believed of it."""

import math
import shutil
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from engine.asr.base import SAMPLE_RATE
from engine.asr.whisper import gates, model
from engine.asr.whisper.gates import Belief, believe, join
from engine.asr.whisper.model import LoadedWhisper, checked_folder, load_model
from engine.asr.whisper.recogniser import WhisperRecogniser, load_whisper
from engine.errors import ModelError, RecogniserError
from engine.settings import RecogniserSettings
from engine.text.names import Name
from tests.engine.asr.conftest import CASES, SENTENCE, pushed


@pytest.fixture(scope="module")
def loaded(whisper_folder) -> LoadedWhisper:
    return load_model(str(whisper_folder), "en")


@pytest.fixture(scope="module")
def recogniser(loaded) -> WhisperRecogniser:
    return WhisperRecogniser(loaded)


class CountingModel:
    def __init__(self, model) -> None:
        self.model = model.model
        self.beams: list[int] = []
        self.longest = 0
        self._transcribe = model.transcribe

    def transcribe(self, pcm, **options):
        self.beams.append(options["beam_size"])
        self.longest = max(self.longest, len(pcm))
        return self._transcribe(pcm, **options)


class SayingModel(CountingModel):
    """Says this text, in the first of these languages if it is told none; each with its share."""

    supported_languages = ("en", "es")

    def __init__(self, model, text: str, *shares: tuple[str, float]) -> None:
        super().__init__(model)
        self.told: list[dict[str, Any]] = []
        self._said, self._shares = [Said(text=text)], shares or (("en", 1.0),)

    def transcribe(self, pcm, **options):
        super().transcribe(pcm, **options)
        self.told.append(options)
        language, share = self._shares[0]
        return self._said, SimpleNamespace(
            language=options["language"] or language,
            language_probability=share,
            all_language_probs=self._shares,
        )


def test_speech_becomes_the_models_sentence_unless_it_fails_the_gates(recogniser, say, monkeypatch):
    heard = pushed(recogniser, say("hello there")).finish()
    assert (heard.text, heard.recogniser) == (SENTENCE, "whisper")
    assert 0.9 < heard.confidence <= 1.0
    monkeypatch.setattr(gates, "LOGPROB", 0.0)
    heard = pushed(recogniser, say("hello there")).finish()
    assert (heard.text, heard.confidence) == ("", 0.0)


def test_nobody_speaking_is_nothing_heard_whatever_the_model_would_say(recogniser):
    for level in (0.0, 0.003, 0.1):
        noise = np.random.default_rng(1).normal(0, level, 2 * SAMPLE_RATE).astype(np.float32)
        recognition = pushed(recogniser, noise)
        assert (recognition.partial(), recognition.finish().text) == ("", "")


def test_an_interim_transcript_is_what_the_end_would_be_and_more_may_follow(recogniser, say):
    recognition = recogniser.open()
    recognition.push(say("set a timer for ten minutes")[: SAMPLE_RATE * 3 // 2])
    assert recognition.partial() == SENTENCE  # while the person speaks
    assert recognition.interim(lambda: False) is None
    interim = recognition.interim(lambda: True)
    assert (interim.text, recognition.partial()) == (SENTENCE, SENTENCE)
    recognition.push(say("hello there"))
    assert recognition.finish().text == SENTENCE


@pytest.mark.parametrize(("decoding_s", "looks"), [(0.05, 8), (1.0, 3)], ids=["fast", "slow"])
def test_a_decoder_looks_every_700_ms_of_speech_or_as_often_as_it_keeps_up(
    loaded, say, decoding_s, looks
):
    pcm = np.tile(say("set a timer for ten minutes")[6000:30000], 4)[: 6 * SAMPLE_RATE]
    counting, clock = CountingModel(loaded.model), count(step=decoding_s)  # a look at it takes that
    slow = WhisperRecogniser(LoadedWhisper(counting, "en", ""), clock=lambda: next(clock))
    recognition = slow.open()
    for first in range(0, len(pcm), 1600):
        recognition.push(pcm[first : first + 1600])
        recognition.partial()
    assert counting.beams == [1] * looks


def test_an_utterance_longer_than_the_window_is_decoded_piece_by_piece(loaded, say):
    counting = CountingModel(loaded.model)
    patient = WhisperRecogniser(LoadedWhisper(counting, "en", ""))
    heard = pushed(patient, np.tile(say("convert ten miles to kilometers"), 13)).finish()
    pieces = len(counting.beams)
    assert pieces >= 2
    assert heard.text == " ".join([SENTENCE] * pieces)
    assert counting.longest <= 30 * SAMPLE_RATE


def test_pieces_of_one_long_sentence_are_one_sentence(loaded, say):
    model = SayingModel(loaded.model, "You have seen it.")
    saying = WhisperRecogniser(LoadedWhisper(model, "en", ""))
    without_pause = np.tile(say("set a timer for ten minutes")[6000:30000], 18)
    assert pushed(saying, without_pause).finish().text == "You have seen it you have seen it."


@pytest.mark.parametrize(
    ("share", "told", "spoken"), [(0.9, [None], "ko"), (0.3, [None, "es"], "es")]
)
def test_an_unsure_language_is_one_that_is_spoken(loaded, say, share, told, spoken):
    model = SayingModel(loaded.model, "Para.", ("ko", share), ("es", 0.2), ("en", 0.1))
    guessing = WhisperRecogniser(LoadedWhisper(model, None, ""))
    heard = pushed(guessing, say("convert ten miles to kilometers")).finish()
    tried = [options["language"] for options in model.told]
    assert (tried, heard.language) == (told, spoken)


def test_whisper_is_told_of_the_names_in_force_and_what_sounds_like_one_is_written_as_it(
    loaded, say
):
    model, names = SayingModel(loaded.model, "I met Shivon."), list[Name]()
    whisper = WhisperRecogniser(LoadedWhisper(model, "en", ""), names=lambda: tuple(names))
    pcm = say("convert ten miles to kilometers")
    assert pushed(whisper, pcm).finish().text == "I met Shivon."
    names.append(Name("Siobhan", "shi-VAWN"))
    recognition = pushed(whisper, pcm)
    assert recognition.finish().text == "I met Siobhan."
    told = [options["hotwords"] for options in model.told]
    assert told[0] is None
    assert set(told[1:]) == {"Siobhan"}


def test_a_short_utterance_is_in_the_language_of_the_one_before(loaded, say):
    model = SayingModel(loaded.model, "Para.", ("es", 0.9))
    detecting = WhisperRecogniser(LoadedWhisper(model, None, ""))
    for said in ("stop", "convert ten miles to kilometers", "stop"):
        pushed(detecting, say(said)).finish()
    assert [options["language"] for options in model.told] == ["en", None, "es"]


def test_a_model_that_fails_says_so_and_works_next_time(loaded, say):
    class Failing(CountingModel):
        def transcribe(self, pcm, **options):
            if not self.beams:
                self.beams.append(0)
                raise RuntimeError("CUDA out of memory")
            return super().transcribe(pcm, **options)

    fragile = WhisperRecogniser(LoadedWhisper(Failing(loaded.model), "en", ""))
    with pytest.raises(RecogniserError, match="out of memory"):
        pushed(fragile, say("hello there")).finish()
    assert pushed(fragile, say("hello there")).finish().text == SENTENCE


def test_a_language_that_is_not_told_is_asked_of_the_model(recogniser, multilingual_folder, say):
    assert recogniser.info.detail.partition(": ")[2].startswith("English model on CPU, int8")
    for language in ("auto", "de"):
        several = WhisperRecogniser(load_model(str(multilingual_folder), language))
        assert "multilingual" in several.info.detail
        heard = pushed(several, say("hello there")).finish()
        assert (heard.text, bool(heard.language)) == (SENTENCE, language == "auto")


def test_the_language_changes_without_loading(multilingual_folder):
    recogniser = load_whisper(RecogniserSettings("whisper", str(multilingual_folder), "de"))
    before = recogniser.open()
    recogniser.adjust(RecogniserSettings("whisper", str(multilingual_folder), "fr"))
    languages = [each._decoder.loaded.language for each in (before, recogniser.open())]
    assert languages == ["de", "fr"]
    with pytest.raises(ModelError, match="does not support the language 'xx'"):
        recogniser.adjust(RecogniserSettings("whisper", str(multilingual_folder), "xx"))
    assert recogniser.open()._decoder.loaded.language == "fr"
    recogniser.close()


def test_a_model_of_english_alone_names_what_to_choose_for_another_language(whisper_folder):
    with pytest.raises(ModelError, match=r"language 'de'.*multilingual"):
        load_model(str(whisper_folder), "de")


@pytest.mark.parametrize(
    ("place", "file", "refusal"),
    [
        (None, "x", "No folder is chosen.*sphinx"),
        ("nowhere", "x", "nowhere lacks model.bin.*sphinx"),
        ("here", "model.safetensors", "here lacks model.bin.*sphinx"),
    ],
)
def test_what_is_no_model_is_refused_with_what_to_do(tmp_path, place, file, refusal):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / file).write_bytes(b"{}")
    with pytest.raises(ModelError, match=refusal):
        checked_folder("" if place is None else str(tmp_path / place))


@pytest.mark.parametrize("name", ["model.bin", "config.json", "tokenizer.json", "vocabulary.json"])
def test_half_a_model_names_what_is_missing_or_damaged(whisper_folder, tmp_path, name):
    half = shutil.copytree(whisper_folder, tmp_path / "half")
    file, content = half / name, (half / name).read_bytes()
    for left, told in ((content[: len(content) // 2], "does not load"), (b"", f"lacks {name}")):
        file.write_bytes(left)
        with pytest.raises(ModelError, match=f"half {told}"):
            load_model(str(half), "en")
    file.unlink()
    with pytest.raises(ModelError, match=f"half lacks {name}"):
        load_model(str(half), "en")


def test_a_gpu_without_its_libraries_gives_way_to_the_cpu_with_a_note(monkeypatch, whisper_folder):
    import ctranslate2
    import faster_whisper

    genuine = faster_whisper.WhisperModel

    def without_cuda(path, *, device, **options):
        if device == "cuda":
            raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")
        return genuine(path, device=device, **options)

    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda device: {"int8"})
    monkeypatch.setattr(faster_whisper, "WhisperModel", without_cuda)
    loaded = load_model(str(whisper_folder), "en")
    assert "on CPU" in loaded.detail
    assert "the GPU could not be used" in loaded.detail


def test_torch_and_whisper_compute_in_one_process(loaded):
    """Two OpenMP runtimes in one process crash or abort where they clash."""
    ones = torch.ones(512, 512)
    for _ in range(2):
        assert (ones @ ones)[0, 0] == 512
        list(loaded.model.transcribe(np.zeros(16000, np.float32), language="en")[0])


@pytest.mark.parametrize(
    ("seconds", "frames"), [(0.3, 1000), (9, 1000), (9.01, 2000), (19, 2000), (25, 3000)]
)
def test_the_least_window_that_holds_an_utterance_is_encoded_once(whisper_folder, seconds, frames):
    loaded = load_model(str(whisper_folder), "en").model
    encoded: list[np.ndarray] = []
    encode = loaded.encode.args[0]
    loaded.encode = partial(
        model._encode, lambda features: encoded.append(features) or encode(features)
    )
    noise = np.random.default_rng(1).normal(0, 0.1, int(seconds * SAMPLE_RATE))
    list(loaded.transcribe(model.pad_to_window(noise.astype(np.float32)), language="en")[0])
    assert [features.shape[-1] for features in encoded] == [frames]
    mel = loaded.feature_extractor(
        model.pad_to_window(np.ones(int(seconds * SAMPLE_RATE), np.float32))
    )
    assert mel.shape[-1] == frames
    assert np.all(mel[:, int(100 * seconds) + 101 : frames] == mel.min())  # the rest is silence


@dataclass(frozen=True)
class Said:
    text: str = " what time is it"
    avg_logprob: float = -0.2
    no_speech_prob: float = 0.01
    compression_ratio: float = 1.1


def text_of(*segments: Said, speech_s: float = 2.0) -> str:
    return believe(segments, speech_s=speech_s).text


def test_what_is_likely_is_believed_and_trimmed_and_doubtful_text_is_not():
    surely_speech = Said(no_speech_prob=0.9, avg_logprob=-0.1)
    beside_doubt = (Said(), Said(text="and so on", avg_logprob=-3.0))
    for said in ((Said(),), (surely_speech,), beside_doubt):
        assert text_of(*said) == "what time is it"
    silence, guess = Said(no_speech_prob=0.9, avg_logprob=-0.7), Said(avg_logprob=-1.2)
    for doubtful in (silence, guess, Said(compression_ratio=2.6), Said(text="   ")):
        assert believe([doubtful], speech_s=2.0) == Belief("", 0.0)


def test_a_sentence_nobody_can_say_in_a_cough_is_not_believed():
    thanks = Said(text="Thank you for watching!")
    assert text_of(thanks, speech_s=0.3) == ""
    assert text_of(thanks, speech_s=1.2) == "Thank you for watching!"


def test_confidence_grows_with_the_probability_and_falls_with_silence_and_what_was_dropped():
    def confidence(*said: Said) -> float:
        return believe(said, speech_s=5.0).confidence

    assert confidence(Said(no_speech_prob=0.0)) == pytest.approx(math.exp(-0.2))
    assert confidence(Said(avg_logprob=-0.1)) > confidence(Said(avg_logprob=-0.5))
    assert confidence(Said(no_speech_prob=0.0)) > confidence(Said(no_speech_prob=0.4))
    joined = join([Belief("aaa", 1.0), Belief("", 0.0), Belief("b", 0.0)])
    assert joined == Belief("aaa b", 0.75)  # pieces weigh by their letters
    beside = confidence(Said(), Said(avg_logprob=-3.0))
    assert beside == pytest.approx(confidence(Said()) / 2)


@pytest.mark.parametrize(("pieces", "text"), CASES["cut_sentences"])
def test_a_sentence_that_was_cut_is_one_again(pieces, text):
    cut = [Belief(piece, 1.0, goes_on=True) for piece in pieces]
    assert join(cut).text == text


def test_sentences_that_a_pause_parts_stay_two_and_german_nouns_keep_capitals():
    one, other = Belief("Das ist ein.", 1.0), Belief("Haus.", 1.0)
    assert join([one, other]).text == "Das ist ein. Haus."
    assert join([replace(one, goes_on=True), other], lowers=False).text == "Das ist ein Haus."
