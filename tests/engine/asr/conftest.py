"""Voices and models for recognisers: flite speaks, and a Whisper model is made on the spot; and the
tables of cases.toml, by name.

The model is for the real libraries to load and always says one sentence: all that reaches its
output is the position, and place n of the decoder points at word n of SENTENCE. So it answers any
audio, silence too, with great certainty: the perfect hallucinator to try the gates on. It is
written with CTranslate2's own model specification, in a fraction of a second.
"""

import json
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine.asr.base import Recogniser
from engine.audio.vad import Vad
from tests.end_to_end.spoken import spoken

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))

SENTENCE = "what time is it"
WIDTH, INNER, MELS = 64, 32, 80
AUDIO_PLACES, TEXT_PLACES = 1500, 448
CERTAINTY = 2.0  # a word's logit is 16, all others' 0: probability 0.9998
MULTILINGUAL_MARK = ""  # CTranslate2 takes a model for multilingual when it has an empty token
BEFORE_LANGUAGES = ("endoftext", "startoftranscript")
AFTER_LANGUAGES = ("translate", "transcribe", "startoflm", "startofprev", "nospeech")
AFTER_LANGUAGES += ("notimestamps",)


@pytest.fixture(scope="session")
def whisper_folder(tmp_path_factory) -> Path:
    """A CTranslate2 folder of an English-only Whisper."""
    return _write_model(tmp_path_factory.mktemp("english"), ["en"], extra=[], prompt_tokens=2)


@pytest.fixture(scope="session")
def multilingual_folder(tmp_path_factory) -> Path:
    """The same for a Whisper that knows many languages."""
    from faster_whisper.tokenizer import _LANGUAGE_CODES

    folder, languages = tmp_path_factory.mktemp("multilingual"), list(_LANGUAGE_CODES)[:99]
    return _write_model(folder, languages, extra=[MULTILINGUAL_MARK], prompt_tokens=4)


def _write_model(
    folder: Path, languages: list[str], *, extra: list[str], prompt_tokens: int
) -> Path:
    from ctranslate2.specs import WhisperSpec

    tokens = _write_tokenizer(folder, languages, extra)
    spec = WhisperSpec(1, 1, 1, 1)
    _fill_encoder(spec.encoder)
    _fill_decoder(spec.decoder, tokens, first=prompt_tokens - 1)
    spec.register_vocabulary(tokens)
    spec.config.suppress_ids = []
    spec.config.suppress_ids_begin = [tokens.index("<|endoftext|>")]
    spec.config.lang_ids = [tokens.index(f"<|{code}|>") for code in languages]
    spec.config.alignment_heads = [[0, 0]]
    spec.validate()
    spec.optimize(quantization="int8")
    spec.save(str(folder))
    (folder / "preprocessor_config.json").write_text(json.dumps({"feature_size": MELS}))
    return folder


def _write_tokenizer(folder: Path, languages: list[str], extra: list[str]) -> list[str]:
    """Bytes, words of SENTENCE, Whisper's special tokens in Whisper's order: all by number."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet()) + _words() + extra
    special = [f"<|{name}|>" for name in (*BEFORE_LANGUAGES, *languages, *AFTER_LANGUAGES)]
    special += [f"<|{step * 0.02:.2f}|>" for step in range(1501)]
    tokens = letters + special
    tokenizer = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    whole = [AddedToken(token, special=True, normalized=False) for token in special]
    tokenizer.add_special_tokens(whole)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokens


def _words() -> list[str]:
    """SENTENCE as byte-level tokens: every word with the space before it."""
    return [f"\u0120{word}" for word in SENTENCE.split()]


def _fill_encoder(encoder) -> None:
    _fill_linear(encoder.conv1, WIDTH, MELS, 3)
    _fill_linear(encoder.conv2, WIDTH, WIDTH, 3)
    encoder.position_encodings.encodings = _zeros(AUDIO_PLACES, WIDTH)
    _fill_norm(encoder.layer_norm)
    for layer in encoder.layer:
        _fill_attention(layer.self_attention, 3 * WIDTH, WIDTH)
        _fill_feed_forward(layer.ffn)


def _fill_decoder(decoder, tokens: list[str], *, first: int) -> None:
    """Place `first` + n predicts word n of SENTENCE, the place after the last the end."""
    decoder.embeddings.weight = _zeros(len(tokens), WIDTH)
    places, projection = _zeros(TEXT_PLACES, WIDTH), _zeros(len(tokens), WIDTH)
    for n, token in enumerate([*_words(), "<|endoftext|>"]):
        places[first + n, n] = 1.0
        projection[tokens.index(token), n] = CERTAINTY
    decoder.position_encodings.encodings = places
    decoder.projection.weight = projection
    _fill_norm(decoder.layer_norm)
    for layer in decoder.layer:
        _fill_attention(layer.self_attention, 3 * WIDTH, WIDTH)
        _fill_attention(layer.attention, WIDTH, 2 * WIDTH, WIDTH)
        _fill_feed_forward(layer.ffn)


def _fill_attention(attention, *outputs: int) -> None:
    _fill_norm(attention.layer_norm)
    for linear, rows in zip(attention.linear, outputs, strict=True):
        _fill_linear(linear, rows, WIDTH)


def _fill_feed_forward(ffn) -> None:
    _fill_norm(ffn.layer_norm)
    _fill_linear(ffn.linear_0, INNER, WIDTH)
    _fill_linear(ffn.linear_1, WIDTH, INNER)


def _fill_linear(linear, *shape: int) -> None:
    linear.weight, linear.bias = _zeros(*shape), _zeros(shape[0])


def _fill_norm(norm) -> None:
    norm.gamma, norm.beta = np.ones(WIDTH, np.float32), _zeros(WIDTH)


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


Say = Callable[[str], np.ndarray]


@cache
def _said(text: str) -> np.ndarray:
    speech = spoken(text)
    faint = np.random.default_rng(len(text)).normal(0, 2e-4, len(speech) + 12_800)
    faint[4_800 : 4_800 + len(speech)] += speech
    return faint.astype(np.float32)


@pytest.fixture(scope="session")
def say() -> Say:
    """Text to samples [S] at 16 kHz in a natural-ish voice (flite's slt), silence on both sides."""
    return _said


def pushed(recogniser: Recogniser, pcm: np.ndarray, block: int = 1600):
    """What was opened for an utterance, once it has heard all of it in blocks."""
    recognition = recogniser.open()
    for first in range(0, len(pcm), block):
        recognition.push(pcm[first : first + block])
    return recognition


@pytest.fixture(scope="session")
def vad() -> Vad:
    return Vad()
