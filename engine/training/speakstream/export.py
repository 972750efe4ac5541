"""The stage `export` of SpeakStream: network, vocoder and speaker encoder as one pack, half
precision, with named voices.

Invariant: what is written is read back through `engine.tts.speakstream.pack` before the stage is
done.
"""

import json
import shutil

from safetensors.torch import load_file

from engine.training import checkpoints
from engine.training.export import (
    finish,
    pack_folder,
    save_vector_voices,
    save_weights,
)
from engine.training.run import Run, read_json
from engine.training.speakstream.encode import read_encoded, read_scale
from engine.training.speakstream.stage import shape_of
from engine.tts.pack_files import PHONES_FILE
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.phones import MARKS
from engine.tts.speakstream import pack
from engine.tts.speakstream.config import Generation


def export_pack(run: Run) -> None:
    """Write the pack."""
    inputs = run.require("corpus", "speaker", "encode", "decoder", "voice")
    recipe, folder = run.recipe, pack_folder(run)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    voice, vocoder, speaker = (
        run.stage(stage) / f"{name}.safetensors"
        for stage, name in (("voice", "voice"), ("decoder", "vocoder"), ("speaker", "speaker"))
    )
    save_weights(load_file(voice), folder / pack.VOICE_FILE, {}, half=recipe.export.half)
    about = checkpoints.metadata(vocoder)
    save_weights(load_file(vocoder), folder / pack.VOCODER_FILE, about, half=recipe.export.half)
    shutil.copyfile(speaker, folder / pack.SPEAKER_FILE)
    ids = read_json(run.stage("encode") / "phones.json")
    table = json.dumps({**ids, **MARKS}, ensure_ascii=False, indent=0)
    (folder / PHONES_FILE).write_text(table, encoding="utf-8")
    scale = read_scale(run)
    generation = Generation(
        window=recipe.speakstream.window, hop=recipe.speakstream.hop, pace=round(scale.pace, 3)
    )
    shape = shape_of(recipe.speakstream, recipe.speaker.width)
    config = pack.PackConfig(recipe.export.name, shape, generation, scale.levels)
    (folder / CONFIG_FILE).write_text(pack.pack_json(config), encoding="utf-8")
    named = save_vector_voices(run, read_encoded(run).training, folder / VOICES_FOLDER)
    pack.load_pack(folder)
    finish(run, inputs, named)
