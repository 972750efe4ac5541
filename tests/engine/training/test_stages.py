"""All stages on a few seconds of speech and a few steps: they run, resume, and the pack speaks."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from engine.nn.packed.product_graph import Precision
from engine.training import packing
from engine.training.__main__ import do_stage
from engine.training.codec import codec, decoder
from engine.training.corpus.shards import read_shards
from engine.training.loop import Losses
from engine.training.packing import pack_folder
from engine.training.utterances import shard_file
from engine.training.voxtream import losses as voice
from engine.training.voxtream.losses import FROZEN, built_in_model
from engine.tts import packs, registry
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.training.conftest import by_heart, copied, last
from tests.engine.tts import laws

CPU = Target(torch.device("cpu"), torch.float32, threads=1)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def loaded(whole) -> VoxtreamSynthesiser:
    return pack.load_pack(pack_folder(whole), Precision.FLOAT, CPU)


def test_the_exported_pack_speaks(loaded, whole):
    assert [each.name for each in loaded.voices()] == ["Ada", "Bruno"]
    pcm = laws.say(loaded, [("Good", "morning.")], seed=1, rate=4.0).pcm
    assert len(pcm) % 1920 == 0
    assert np.isfinite(pcm).all()
    assert np.abs(pcm).max() > 0
    card = (pack_folder(whole) / "CARD.md").read_text(encoding="utf-8")
    assert all(words in card for words in ("BSD-like", "Not measured yet"))
    assert "targets\n- Four steps of training.\n" in card


@pytest.mark.long
def test_voxtream_learns_on_from_the_built_in_voice_and_speaks(run_of):
    run = run_of("voxtream")
    folder = pack_folder(run)
    assert packs.system_of(folder) == "voxtream"
    card = (folder / "CARD.md").read_text(encoding="utf-8")
    assert "A small VoXtream with" in card
    assert "first weights are the built-in voice's" in card
    model = registry.load_pack("voxtream", folder, "cpu")
    assert [each.name for each in model.voices()] == ["Ada", "Bruno"]
    assert model.info.rate_range is None
    assert np.isfinite(laws.say(model, [["Morning."]], seed=1).pcm).all()
    before = built_in_model().state_dict()
    frozen = {key for key, value in load_file(run.weights("voice")).items()
              if torch.equal(value, before[key][: len(value)])}  # fmt: skip
    assert {key.split(".")[0] for key in frozen} >= set(FROZEN)
    assert len(frozen) < len(before)


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "title", "stage", "part"),
    [
        ("llmvox", "LLMVoX", "voice", "model"),
        ("speakstream", "SpeakStream", "voice", "model"),
        ("smlle", "SMLLE", "transducer", "transducer"),
    ],
)
def test_a_paper_s_system_is_trained_and_speaks(run_of, system, title, stage, part):
    run = run_of(system)
    folder = pack_folder(run)
    assert packs.system_of(folder) == system
    model = registry.load_pack(system, folder, "cpu")
    assert [voice.name for voice in model.voices()] == ["Ada", "Bruno"]
    pcm = laws.say(model, [("Good", "morning.")], seed=1).pcm
    assert np.isfinite(pcm).all()
    assert np.abs(pcm).max() > 0
    assert title in (folder / "CARD.md").read_text(encoding="utf-8")
    trained = load_file(run.weights(stage))
    kept = getattr(model.parts, part).state_dict()
    assert set(kept) == set(trained)
    assert all(torch.allclose(kept[key], trained[key], atol=2e-3) for key in trained)


def test_the_frozen_codes_are_exported_as_used_with_another_decoder(whole):
    kept = load_file(whole.weights("codec"))
    last = torch.load(whole.stage("codec") / "checkpoint.pt", weights_only=True)
    shipped = load_file(whole.weights("decoder"))
    for key, value in kept.items():
        if key.startswith(codec.CodecLearner.exact):
            assert torch.equal(value, last["parts"][f"codec.{key}"]), key
            assert torch.equal(value, shipped[key]), key
    trunk = "decoder.up.convtr.convtr.weight"
    assert torch.equal(kept[trunk], last["mean"][trunk])  # where the shipped decoder begins
    begun = decoder.build_codec(whole.recipe.codec.shape, kept).state_dict()
    assert all(torch.equal(value, kept[key]) for key, value in begun.items())


def test_a_pack_is_copied_whole_to_where_it_ships(whole, tmp_path):
    place = tmp_path / "starter"
    place.mkdir()
    (place / "old.txt").write_text("old")
    packing.install(whole, place)
    assert not (place / "old.txt").exists()
    assert pack.load_pack(place, Precision.FLOAT, CPU).info.name == "tiny-starter"


def test_training_that_was_stopped_goes_on_as_if_it_had_not_been(whole, tmp_path, monkeypatch):
    run = copied(whole, tmp_path, "corpus", "codec", "speaker", "encode")
    learn, steps = voice.VoxtreamLearner.learn, iter(range(9))

    def stopped(learner: voice.VoxtreamLearner, share: float, draw: random.Random) -> Losses:
        if next(steps) == 3:
            raise KeyboardInterrupt
        return learn(learner, share, draw)

    monkeypatch.setattr(voice.VoxtreamLearner, "learn", stopped)
    with pytest.raises(KeyboardInterrupt):
        do_stage("voice", run)
    assert not run.is_done("voice")
    monkeypatch.undo()
    do_stage("voice", run)
    again = load_file(run.weights("voice"))
    once = load_file(whole.weights("voice"))
    assert all(torch.allclose(again[key], once[key], atol=1e-6) for key in once)


def test_what_was_encoded_of_a_shard_that_is_gone_is_deleted(whole, tmp_path):
    run = copied(whole, tmp_path, "corpus", "codec", "speaker", "encode")
    gone = read_shards(run.stage("corpus"))[-1]
    file = shard_file(run.stage("encode"), gone)
    assert file.is_file()
    gone.index.unlink()
    for stage in ("corpus", "codec", "speaker"):
        run.finish(stage)
    do_stage("encode", run)
    assert not file.is_file()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_only_lost_shards_are_encoded_again(whole, tmp_path, workers):
    run = copied(whole, tmp_path, "corpus", "codec", "speaker", "encode")
    files = sorted(run.stage("encode").glob("*.safetensors"))
    before = {file: (load_file(file), file.stat().st_mtime_ns) for file in files}
    for lost in files[:2]:
        lost.unlink()
    do_stage("encode", replace(run, workers=workers))
    for file, (tensors, changed) in before.items():
        again = load_file(file)
        assert all(torch.equal(again[key], tensors[key]) for key in tensors)
        assert (file.stat().st_mtime_ns == changed) == (file not in files[:2])


def test_the_decoder_that_is_told_the_phones_learns_what_they_are(whole):
    phones = load_file(whole.weights("decoder"))["phones.weight"]
    assert not phones[0].any()  # who says nothing
    assert phones[1:].any(dim=1).sum() > 5  # of the windows of four steps
    saved = torch.load(whole.stage("decoder") / "checkpoint.pt", weights_only=True)
    assert saved["optimisers"]["reader"]["state"]  # the reader learns beside it


@pytest.mark.long
def test_the_source_learns_the_pitch_of_a_clip(whole):
    own = replace(whole.recipe.decoder, drawn_codes=0.0)
    torch.manual_seed(1)
    run = replace(whole, recipe=replace(whole.recipe, decoder=own))
    missed = by_heart(decoder.DecoderLearner(run))
    assert missed[-1]["pitch"] < 0.5 * missed[0]["pitch"]


@pytest.mark.long
def test_the_codec_learns_to_say_one_clip_again(whole):
    torch.manual_seed(1)
    mels = [losses["mel"] for losses in by_heart(codec.CodecLearner(whole))]
    assert min(mels[-5:]) < 0.67 * mels[0]


def test_the_voice_learns_one_lesson_by_heart(whole):
    torch.manual_seed(1)
    losses = by_heart(voice.VoxtreamLearner(whole))
    assert last(losses, "semantic") < 0.7
