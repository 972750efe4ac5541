"""Codes the voice draws given the true past: those a session's model would draw there."""

import random
from dataclasses import replace

import pytest
import torch

from engine.nn.cache import KvCache
from engine.training import utterances as shards_of
from engine.training.codec import draw
from engine.training.corpus.shards import read_shards
from engine.training.utterances import shard_file
from engine.training.voxtream import VOXTREAM, VOXTREAM2
from engine.training.voxtream.data import behind_another, one_utterance
from engine.training.voxtream.losses import (
    collated,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.tts.voxtream.config import Generation
from engine.tts.voxtream.prompt import rotary_tables
from engine.tts.voxtream.voxtream1.config import TOKENS
from tests.engine.training.voxtream.test_voxtream import WALK, encoded

PROMPT = 6
PLAIN = Generation(temperature=0.5, top_codes=1, acoustic_guidance=1.0, speaker_weight=1.0)


@pytest.mark.parametrize(
    ("system", "lesson_of"), [(VOXTREAM2, one_utterance), (VOXTREAM, behind_another)]
)
@torch.no_grad()
def test_what_is_drawn_is_what_a_sessions_model_draws(tiny, system, lesson_of):
    torch.manual_seed(3)
    config = model_config(tiny)
    if system == VOXTREAM:
        config = replace(config, duration_tokens=len(TOKENS))
    model = fresh_model(config, PLAIN).eval()
    said = [encoded(WALK, 4, seed=1), encoded(WALK, 2, seed=2)]
    lessons = [lesson_of(made, said, random.Random(5), PROMPT) for made in said]
    batch = collated(lessons, model.config)
    drawn = draw.drawn_codes(model, batch, 3, PLAIN, greedily=system == VOXTREAM2)
    hidden = temporal_hidden(model, batch, phone_rows(model, batch, 3), 0.0)
    table = rotary_tables(model).depth
    cache = KvCache(model.config.depth, 2, model.device, model.dtype)
    for number, made in enumerate(said):
        speaker = model.speaker_rows(batch.speakers[number])
        first = lessons[number].prompt_frames
        assert first >= PROMPT
        for column in range(first, first + made.frames):
            row = hidden[number, column].expand(2, -1)
            token = batch.tokens[number, column]
            joint = model.joint_logits(row)[0, token, : model.config.codes]
            semantic = joint.argmax()[None, None]
            assert drawn[number, 0, column] == semantic
            if column > first:
                codes = model.acoustic_codes(row + speaker, semantic, table, cache)
                assert drawn[number, 1:, column - 1].tolist() == codes[0].tolist()


@pytest.mark.slow
def test_a_shard_drawn_again_is_the_same(whole):
    """Parts may be done in any process, in any order."""
    shard = read_shards(whole.stage("corpus"))[-1]
    file = shard_file(whole.stage("draw"), shard)
    before = file.read_bytes()
    file.unlink()
    shards_of._encoder.cache_clear()  # as in a process that does only this part
    draw.draw_corpus(whole)
    assert file.read_bytes() == before
