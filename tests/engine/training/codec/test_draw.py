"""Codes the voice draws given the true past: those a session's model would draw there."""

import random
from dataclasses import replace

import pytest
import torch

from engine.training.codec import decoder
from engine.training.voxtream import VOXTREAM, VOXTREAM2
from engine.training.voxtream.data import one_utterance
from engine.training.voxtream.losses import (
    collated,
    fresh_model,
    model_config,
    phone_rows,
    temporal_hidden,
)
from engine.tts.voxtream.config import VoxtreamGeneration
from engine.tts.voxtream.voxtream1.session import TOKENS
from tests.engine.training.voxtream.test_voxtream import WALK, encoded

PLAIN = VoxtreamGeneration(temperature=0.5, top_codes=1, acoustic_guidance=1.0, speaker_weight=1.0)


@pytest.mark.parametrize(("system", "prompt"), [(VOXTREAM2, 6), (VOXTREAM, 0)])
@torch.no_grad()
def test_what_is_drawn_is_what_a_sessions_model_draws(tiny, system, prompt):
    torch.manual_seed(3)
    config = model_config(tiny)
    if system == VOXTREAM:
        config = replace(config, duration_tokens=len(TOKENS))
    model = fresh_model(config, PLAIN).eval()
    said = [encoded(WALK, 4, seed=1), encoded(WALK, 2, seed=2)]
    lessons = [one_utterance(made, said, random.Random(5), prompt) for made in said]
    batch = collated(lessons, model.config)
    drawn = decoder.draw_codes(model, batch, 3, PLAIN, greedily=system == VOXTREAM2)
    hidden = temporal_hidden(model, batch, phone_rows(model, batch, 3), 0.0)
    memory = model.acoustic_memory()
    for number, made in enumerate(said):
        speaker = model.speaker_rows(batch.speakers[number])
        first = lessons[number].prompt_frames
        assert first == prompt
        for column in range(first, first + made.frames):
            row = hidden[number, column].expand(2, -1)
            token = batch.tokens[number, column]
            joint = model.joint_logits(row)[0, token, : model.config.codes]
            semantic = joint.argmax()[None, None]
            assert drawn[number, 0, column] == semantic
            if column > first:
                codes = model.acoustic_codes(row + speaker, semantic, memory)
                assert drawn[number, 1:, column - 1].tolist() == codes[0].tolist()


def test_an_utterance_is_drawn_once_and_the_same_by_another_process(tiny):
    said = [encoded(WALK, 4, seed=1), replace(encoded(WALK, 2, seed=2), place=1)]
    torch.manual_seed(3)
    model = fresh_model(model_config(tiny), VoxtreamGeneration()).eval()
    first = [decoder.drawn_utterance(tiny, model, each, said) for each in said]
    torch.manual_seed(4)
    state = torch.get_rng_state()
    again = [decoder.drawn_utterance(tiny, model, each, said) for each in reversed(said)][::-1]
    assert torch.equal(torch.get_rng_state(), state)
    for made, codes, repeated in zip(said, first, again, strict=True):
        assert codes.shape == made.codes.shape
        assert torch.equal(codes, repeated)
