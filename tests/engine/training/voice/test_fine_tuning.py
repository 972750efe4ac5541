"""A run that begins with a pack: what it takes over, what learns on, what is refused."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from engine.errors import InvalidInput
from engine.training.codec import decoder
from engine.training.codec import stage as codec
from engine.training.packing import pack_folder
from engine.training.recipe import UNTRAINED, Decoder, Recipe, read_recipe
from engine.training.run import Run
from engine.training.voice import fine_tuning
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import Target
from tests.engine.training.conftest import STAGES, TINY, finish

pytestmark = pytest.mark.slow
CPU = Target(torch.device("cpu"), torch.float32, threads=1)


@pytest.fixture
def further(whole) -> Recipe:
    """The tiny recipe again, from its own pack, whose codes and speaker encoder it keeps."""
    recipe = replace(whole.recipe, begin_with=str(pack_folder(whole)))
    return replace(
        recipe,
        codec=replace(recipe.codec, schedule=UNTRAINED),
        speaker=replace(recipe.speaker, schedule=UNTRAINED),
    )


def begun(further: Recipe, whole: Run, folder: Path) -> Run:
    """A run with the corpus of the whole one and the pack's codec and speaker encoder."""
    shutil.copytree(whole.folder / "corpus", folder / "corpus")
    run = Run(further, folder)
    assert all(fine_tuning.has_taken(run, stage) for stage in ("codec", "speaker"))
    return run


def test_a_decoder_with_a_schedule_learns_on_with_the_packs_codes(further, whole, tmp_path):
    """In steps so small that it must still be near where it was."""
    slow = replace(further.decoder.schedule, learning_rate=1e-6)
    alone = replace(further.decoder, schedule=slow, drawn=0.0, phones=False, kept=0.5)
    recipe = replace(further, decoder=alone)
    assert not fine_tuning.is_taken(recipe, "decoder")
    assert fine_tuning.is_taken(replace(recipe, decoder=Decoder()), "decoder")
    assert fine_tuning.is_taken(recipe, "codec")
    run = begun(recipe, whole, tmp_path)
    decoder.train_decoder(run)
    before = load_file(pack_folder(whole) / pack.CODEC_FILE)
    after = load_file(run.stage("decoder") / "codec.safetensors")
    moved = {key for key, value in after.items() if not torch.equal(value, before[key].float())}
    assert any(key.startswith("decoder.") for key in moved)
    assert not any(key.startswith(codec.CODING) for key in moved)
    for key in moved:
        assert torch.allclose(after[key], before[key].float(), atol=1e-3), key


def without_schedules(whole: Run, file: Path, *parts: str) -> None:
    """The tiny recipe that begins with the whole run's pack, without schedules of these parts."""
    text = TINY.read_text(encoding="utf-8")
    for part in parts:
        before, _, after = text.partition(f"[{part}.schedule]")
        text = before + after[after.index("[") :]
    file.write_text(f'begin_with = "{pack_folder(whole)}"\n{text}', encoding="utf-8")


@pytest.mark.parametrize("other", ["codec", "speaker"])
def test_what_a_pack_brings_along_does_not_learn(whole, tmp_path, other):
    without_schedules(whole, tmp_path / "learns.toml", other)
    with pytest.raises(InvalidInput, match="brings along"):
        read_recipe(tmp_path / "learns.toml")


def test_all_stages_from_the_command_line(whole, tmp_path):
    """With no schedule for what is taken, and a voice that hardly moves from where it was."""
    file, folder = tmp_path / "further.toml", tmp_path / "run"
    without_schedules(whole, file, "codec", "decoder", "speaker")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("learning_rate = 1e-3", "learning_rate = 1e-9"), encoding="utf-8")
    assert read_recipe(file).codec.schedule == UNTRAINED
    finish(file, STAGES[1 : STAGES.index("export") + 1], whole.folder / "corpus", folder)
    there, here = (place / "export" / "pack" for place in (whole.folder, folder))
    assert "earlier pack" in (here / "CARD.md").read_text(encoding="utf-8")
    before, after = (load_file(place / pack.VOICE_FILE) for place in (there, here))
    for key, value in before.items():
        assert torch.allclose(after[key].float(), value.float(), atol=2e-3), key
    kept = [
        pack.CODEC_FILE,
        pack.SPEAKER_FILE,
        pack.PHONES_FILE,  # phones keep their numbers
        *(f"voices/{each.name}" for each in (there / "voices").iterdir()),
    ]
    assert all((here / name).read_bytes() == (there / name).read_bytes() for name in kept)


def test_the_weights_lie_between_the_packs_and_those_learnt():
    learnt = {"weight": torch.zeros(3), "count": torch.tensor(4), "new": torch.full((2,), 7.0)}
    there = {"weight": torch.ones(3, dtype=torch.float16), "count": torch.tensor(9)}
    for kept in (0.0, 0.25, 1.0):
        joined = fine_tuning.joined(learnt, there, kept)
        assert torch.equal(joined["weight"], torch.full((3,), kept))
        assert joined["count"] == 4
        assert torch.equal(joined["new"], learnt["new"])


def test_a_pack_of_another_shape_is_refused(further, whole, tmp_path):
    for other, named in (
        (replace(further, voice=replace(further.voice, width=32)), "another voice"),
        (replace(further, codec=replace(further.codec, blocks=2)), "another codec"),
        (replace(further, speaker=replace(further.speaker, bands=32)), "another speaker"),
    ):
        run = Run(other, tmp_path / named)
        shutil.copytree(whole.folder / "corpus", run.folder / "corpus")
        with pytest.raises(InvalidInput, match=named):
            fine_tuning.has_taken(run, "codec")
        assert not run.is_done("codec")
