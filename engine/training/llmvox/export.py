"""The stage `export` of LLMVoX: network, vocoder and speaker encoder as one pack, half precision,
with named voices.

Invariant: what is written is read back through `engine.tts.llmvox.pack` before the stage is done.
"""

import json
import shutil

from safetensors.torch import load_file

from engine.training import checkpoints
from engine.training.export import finish, pack_folder, save_vector_voices, save_weights
from engine.training.llmvox.encode import read_encoded
from engine.training.llmvox.stage import shape_of
from engine.training.run import Run, read_json
from engine.tts.llmvox import pack
from engine.tts.llmvox.config import Generation
from engine.tts.pack_files import PHONES_FILE
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.phones import MARKS


def export_pack(run: Run) -> None:
    """Write the pack."""
    inputs = run.require("corpus", "speaker", "encode", "decoder", "voice")
    recipe, folder = run.recipe, pack_folder(run)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    voice = load_file(run.stage("voice") / "voice.safetensors")
    save_weights(voice, folder / pack.VOICE_FILE, {}, half=recipe.export.half)
    vocoder = run.stage("decoder") / "vocoder.safetensors"
    about = checkpoints.metadata(vocoder)
    save_weights(load_file(vocoder), folder / pack.VOCODER_FILE, about, half=recipe.export.half)
    shutil.copyfile(run.stage("speaker") / "speaker.safetensors", folder / pack.SPEAKER_FILE)
    ids = read_json(run.stage("encode") / "phones.json")
    table = json.dumps({**ids, **MARKS}, ensure_ascii=False, indent=0)
    (folder / PHONES_FILE).write_text(table, encoding="utf-8")
    config = pack.PackConfig(recipe.export.name, shape_of(recipe), Generation())
    (folder / CONFIG_FILE).write_text(pack.pack_json(config), encoding="utf-8")
    named = save_vector_voices(run, read_encoded(run).people, folder / VOICES_FOLDER)
    pack.load_pack(folder)
    finish(run, inputs, named)
