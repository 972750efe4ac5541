"""What VoXtream's voice is trained on is what a session of the product feeds its model."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.training.export import prompt_voice
from engine.training.stages import VOXTREAM
from engine.training.voice.model import fresh_model, model_config, phone_rows, temporal_hidden
from engine.training.voice.stage import collated
from engine.training.voice.utterances import GO_ON, Encoded, Lesson, begun_at, stretch
from engine.tts.phones import BOS, EOS, SILENCE
from engine.tts.voxtream.config import Generation
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.network.phones import extend
from engine.tts.voxtream.prompt import rotary_tables
from engine.tts.voxtream.voxtream1.prompt import Prompt, prepare
from engine.tts.voxtream.voxtream1.synthesiser import checked_prompt
from tests.engine.training.voice.test_voice_model import encoded as of_eight

WALK = [2, 0, 3, 2, 2, 3, 2]  # (1,1) (0,1) (1,2) (1,1) (1,1) (1,2) (1,1): nine phones
PROMPT = 8  # frames


@pytest.fixture(scope="module")
def model(tiny) -> VoxtreamModel:
    torch.manual_seed(3)
    config = model_config(tiny.voice, tiny.codec, tiny.speaker, VOXTREAM)
    return fresh_model(config, Generation(speaker_weight=1.0)).eval()


def encoded(seed: int) -> Encoded:
    """Nine phones."""
    made = of_eight(WALK, 3, seed)
    dice = np.random.default_rng(seed)
    return replace(
        made,
        phones=dice.integers(0, 60, 9).astype(np.int16),
        nuclei=np.append(made.nuclei, np.int8(1)),
        marks=made.marks[:1],
    )


def closed_lesson() -> Lesson:
    """A lesson whose text ends."""
    lessons = (stretch([encoded(1), encoded(2)], random.Random(n), 36) for n in range(200))
    return next(made for made in lessons if int(made.text[-1]) == EOS)


def test_a_stretch_is_learnt_whole_and_has_no_marks():
    lesson = closed_lesson()
    assert lesson.text[0] == BOS
    assert lesson.text[-2:].tolist() == [SILENCE, EOS]
    assert (lesson.tokens >= 0).all()
    assert lesson.text.max() == EOS
    assert not {117, 118, 119, 121} & set(lesson.text.tolist())
    assert len(lesson.rows) == len(lesson.tokens) == lesson.codes.shape[1]
    assert lesson.rows[0].tolist() == [0, 0]


def test_what_is_begun_in_the_middle_goes_on_to_its_first_phone():
    rest = begun_at(encoded(1), 2)  # the frame of phones 1 and 2
    assert rest.tokens.tolist() == [GO_ON + 1, 2, 2, 3, 2]
    assert rest.spans()[0].tolist() == [0, 1]
    assert len(rest.phones) == 8


@torch.no_grad()
def test_hidden_states_of_a_lesson_are_those_of_a_session(model):
    lesson, tables = closed_lesson(), rotary_tables(model)
    batch, ahead = collated([lesson], model.config), model.config.max_look_ahead
    wanted = temporal_hidden(model, batch, phone_rows(model, batch, ahead), 0.0)[0]
    text, places = torch.from_numpy(lesson.text), torch.from_numpy(lesson.rows)
    codes, known = torch.from_numpy(lesson.codes), int(places[PROMPT].max()) + 1
    prompt = Prompt(codes[:, :PROMPT], text[1:known], places[1 : PROMPT + 1] - 1, torch.zeros(192))
    prepared = prepare(model, tables, prompt)
    fresh = model.phone_embeddings(text[None, known:])
    rows = extend(prepared.rows, fresh, model.phone, tables.phone)
    opened = prepared.open(rows)
    assert torch.allclose(opened.hidden[0], wanted[PROMPT], atol=1e-4)
    for column in range(PROMPT + 1, codes.shape[1]):
        vector = rows.row(int(places[column, 0])) + rows.row(int(places[column, 1]))
        heard = torch.cat((codes[:1, column - 1], codes[1:, column - 2]))
        x = model.columns(vector[:, None], heard[None, :, None])
        hidden = model.advance(x, tables.temporal.slice(column, column + 1), opened.cache, None)
        opened.cache.advance(1)
        assert torch.allclose(hidden[0], wanted[column], atol=1e-4)


def test_a_named_voice_is_a_prompt_with_its_text(model):
    voice = prompt_voice([encoded(1), encoded(2)], "Ada", "voxtream")
    prompt = checked_prompt(voice, model.config)
    assert prompt.codes.shape[1] == len(prompt.spans) == 20
    assert len(prompt.phones) == 18
    assert prompt.spans[9].tolist() == [8, 8]  # the pause holds the last phone
    assert prompt.spans[10].tolist() == [9, 9]
