"""What the voice is trained on is what a session of the product feeds its model."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.codec.mimi import NOTHING
from engine.text.phonemes import PhonedWord
from engine.training.codec.decoder import PAUSED, UNKNOWN_SHARE, frame_phones, known_phones
from engine.training.voxtream.data import (
    GO_ON,
    VoxtreamLesson,
    VoxtreamUtterance,
    draw_sequence,
    draw_stretch,
    token_spans,
)
from engine.training.voxtream.losses import (
    collated,
    corrupted,
    dropped,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.tts.phones import BOS, EOS, SILENCE, UNKNOWN, own_ids
from engine.tts.voxtream.config import VoxtreamGeneration
from engine.tts.voxtream.network.frames import prepare
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.network.phones import extend
from engine.tts.voxtream.script import Span, VoxtreamScript
from engine.tts.voxtream.voxtream1 import synthesiser as original_synthesiser
from engine.tts.voxtream.voxtream1.session import TOKENS
from tests.engine.tts.voxtream.random_weights import own_table

# ruff: noqa: RUF001  IPA letters look like others on purpose
PHONES = ("h", "ə", "l", "ˈoʊ", "w", "ˈɜː", "l", "d")
PROMPT = 6


@pytest.fixture(scope="module")
def model(tiny) -> VoxtreamModel:
    torch.manual_seed(3)
    config = model_config(tiny)
    return fresh_model(config, VoxtreamGeneration(speaker_weight=1.0)).eval()


def encoded(tokens: list[int], pause: int, seed: int = 0) -> VoxtreamUtterance:
    dice = np.random.default_rng(seed)
    frames = len(tokens) + pause
    codes = dice.integers(0, 32, (4, frames)).astype(np.int16)
    return VoxtreamUtterance(
        place=0,
        speaker=1,
        codes=codes,
        prompt=codes,
        vector=dice.standard_normal(192).astype(np.float32),
        tokens=np.asarray(tokens, np.int8),
        phones=np.asarray([own_ids()[phone] for phone in PHONES], np.int16),
        nuclei=np.asarray([0, 1, 0, 1, 0, 1, 0, 0], np.int8),
        marks=np.asarray([(4, 118), (8, 117)], np.int16),
    )


WALK = [2, 0, 3, 2, 2, 3, 2]  # (1,1) (0,1) (1,2) (1,1) (1,1) (1,2) (1,1): all eight phones


def closed_lesson() -> VoxtreamLesson:
    lessons = (
        draw_sequence([encoded(WALK, 4)], random.Random(seed), PROMPT + 13, PROMPT)
        for seed in range(200)
    )
    return next(made for made in lessons if int(made.text[-1]) == EOS)


def test_a_lesson_that_ends_closes_with_silence_and_the_end_mark():
    lesson = closed_lesson()
    assert lesson.text[: PROMPT + 1].tolist() == [BOS, *[UNKNOWN] * PROMPT]
    assert lesson.text[-2:].tolist() == [SILENCE, EOS]
    assert lesson.tokens[-2:].tolist() == [GO_ON, GO_ON]
    assert (lesson.tokens[:PROMPT] == -1).all()
    assert len(lesson.rows) == len(lesson.tokens) == lesson.codes.shape[1]


@torch.no_grad()
def test_hidden_states_of_a_lesson_are_those_of_a_session(model):
    lesson = closed_lesson()
    codes = torch.from_numpy(lesson.codes)
    prompt = prepare(model, codes[:, :PROMPT], torch.from_numpy(lesson.speaker))
    script = VoxtreamScript(prompt, own_table())  # after the lesson's text was pushed and ended
    script.add(PhonedWord(PHONES[:4], ","))
    script.add(PhonedWord(PHONES[4:], "."))
    script.close()
    rows, batch = script.rows(), collated([lesson], model.config)
    found = temporal_hidden(model, batch, phone_rows(model, batch, rows.look_ahead), 0.0)[0]
    opened = prompt.open(rows)
    assert torch.allclose(opened.hidden[0], found[PROMPT], atol=1e-4)
    for column, span in zip(range(PROMPT + 1, codes.shape[1]), spans_of_speech(), strict=False):
        heard = torch.cat((codes[:1, column - 1], codes[1:, column - 2]))[None, :, None]
        x = model.columns(script.vector(span)[:, None], heard.expand(2, -1, -1))
        hidden = model.temporal.append(x, opened.cache)[0, -1]
        assert torch.allclose(hidden, found[column], atol=1e-4)


def spans_of_speech() -> list[Span]:
    """Phones of each frame as the session counts them: marks are not phones."""
    start = PROMPT + 1
    found = [Span(start + a, start + b) for a, b in token_spans(encoded(WALK, 4).tokens).tolist()]
    return [*found, Span(start + 8, start + 8, ended=True), Span(start + 9, start + 9, ended=True)]


def test_what_the_padding_holds_does_not_matter(model):
    short, long = closed_lesson(), draw_sequence([encoded(WALK, 4)], random.Random(1), 40, PROMPT)
    with torch.no_grad():
        alone, both = collated([short], model.config), collated([short, long], model.config)
        one = temporal_hidden(model, alone, phone_rows(model, alone, 2), 0.0)[0]
        other = temporal_hidden(model, both, phone_rows(model, both, 2), 0.0)[0, : len(one)]
    assert torch.allclose(one, other, atol=1e-5)


def test_conditions_are_dropped_as_guidance_will(tiny, model):
    torch.manual_seed(1)
    batch = collated([closed_lesson()] * 400, model.config)
    made = dropped(batch, model.config, tiny.voice)
    no_text = (made.text[:, 1:] == UNKNOWN).all(1)
    no_speaker = (made.speakers == 0).all(1)
    no_prompt = (made.inputs[:, 0, 1 : PROMPT + 1] == model.config.codes).all(1)
    for share in (no_text, no_speaker, no_prompt):
        assert 0.12 < float(share.float().mean()) < 0.27
    assert 0.05 < float((no_text & no_speaker & no_prompt).float().mean()) < 0.18
    assert torch.equal(made.inputs[:, 0, PROMPT + 1 :], batch.inputs[:, 0, PROMPT + 1 :])
    assert (made.text[:, 0] == BOS).all()


def test_only_what_the_model_hears_is_corrupted(tiny, model):
    torch.manual_seed(1)
    batch = collated([closed_lesson()] * 400, model.config)
    made = corrupted(batch, model.config, tiny.voice)
    assert torch.equal(made.codes, batch.codes)
    assert torch.equal(made.tokens, batch.tokens)
    changed = (made.inputs != batch.inputs).float().mean()
    assert 0.05 < float(changed) < 0.25
    pads = batch.inputs == model.config.codes + 1
    assert (made.inputs[pads] == model.config.codes + 1).all()


# ---------------------------------------------------------------------- what a decoder is told


IDS = [own_ids()[phone] for phone in PHONES]


def test_frames_say_the_phones_that_their_tokens_walk_to():
    first, last = frame_phones(encoded(WALK, pause=2)).tolist()
    assert first == [IDS[n] for n in (0, 0, 1, 3, 4, 5, 7)] + [SILENCE] * 2
    assert last == [IDS[n] for n in (0, 0, 2, 3, 4, 6, 7)] + [SILENCE] * 2


def test_of_some_frames_nothing_is_told_and_a_pause_may_hold_the_last_phone():
    phones = frame_phones(encoded(WALK, pause=4))
    speech, count = len(WALK), 4000
    draw = random.Random(1)
    variants = [known_phones(phones, draw) for _ in range(count)]
    silent = [each for each in variants if bool((each == NOTHING).all())]
    begun = [each for each in variants if each[0, 0] == NOTHING and each[0, -1] != NOTHING]
    held = [each for each in variants if each[0, -1] == IDS[-1]]
    assert abs(len(silent) / count - UNKNOWN_SHARE) < 0.03
    # Of those that begin without phones some end at once: as many as there are frames.
    share = (1 - UNKNOWN_SHARE) * UNKNOWN_SHARE * (1 - 1 / phones.shape[1])
    assert abs(len(begun) / count - share) < 0.03
    assert abs(len(held) / count - (1 - UNKNOWN_SHARE) * PAUSED) < 0.03
    for each in variants:
        known = (each != NOTHING).all(dim=0)
        assert torch.equal(
            each[:, :speech][:, known[:speech]], phones[:, :speech][:, known[:speech]]
        )


# -------------------------------------------------------------------------- VoXtream's own lessons


FRAMES = 8  # of the prompt


@pytest.fixture(scope="module")
def original(tiny) -> VoxtreamModel:
    torch.manual_seed(3)
    config = replace(model_config(tiny), duration_tokens=len(TOKENS))
    return fresh_model(config, VoxtreamGeneration(speaker_weight=1.0)).eval()


def of_nine(seed: int) -> VoxtreamUtterance:
    made = encoded(WALK, 3, seed)
    dice = np.random.default_rng(seed)
    return replace(
        made,
        phones=dice.integers(0, 60, 9).astype(np.int16),
        nuclei=np.append(made.nuclei, np.int8(1)),
        marks=made.marks[:1],
    )


def closed_stretch() -> VoxtreamLesson:
    lessons = (draw_stretch([of_nine(1), of_nine(2)], random.Random(n), 36) for n in range(200))
    return next(made for made in lessons if int(made.text[-1]) == EOS)


def test_a_stretch_is_learnt_whole_and_has_no_marks():
    lesson = closed_stretch()
    assert lesson.text[0] == BOS
    assert lesson.text[-2:].tolist() == [SILENCE, EOS]
    assert (lesson.tokens >= 0).all()
    assert lesson.text.max() == EOS
    assert not {117, 118, 119, 121} & set(lesson.text.tolist())
    assert len(lesson.rows) == len(lesson.tokens) == lesson.codes.shape[1]
    assert lesson.rows[0].tolist() == [0, 0]


@torch.no_grad()
def test_hidden_states_of_its_lesson_are_those_of_its_session(original):
    lesson = closed_stretch()
    batch, ahead = collated([lesson], original.config), original.config.max_look_ahead
    wanted = temporal_hidden(original, batch, phone_rows(original, batch, ahead), 0.0)[0]
    text, places = torch.from_numpy(lesson.text), torch.from_numpy(lesson.rows)
    codes, known = torch.from_numpy(lesson.codes), int(places[FRAMES].max()) + 1
    spans = places[1 : FRAMES + 1] - 1
    prepared = original_synthesiser.prepare(
        original, codes[:, :FRAMES], text[1:known], spans, torch.zeros(192)
    )
    fresh = original.phone_embeddings(text[None, known:])
    rows = extend(prepared.rows(ahead), fresh, original.phone)
    opened = prepared.open(rows)
    assert torch.allclose(opened.hidden[0], wanted[FRAMES], atol=1e-4)
    for column in range(FRAMES + 1, codes.shape[1]):
        vector = rows.row(int(places[column, 0])) + rows.row(int(places[column, 1]))
        heard = torch.cat((codes[:1, column - 1], codes[1:, column - 2]))
        x = original.columns(vector[:, None], heard[None, :, None])
        hidden = original.temporal.append(x, opened.cache)
        assert torch.allclose(hidden[0, -1], wanted[column], atol=1e-4)
