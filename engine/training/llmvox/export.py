"""The stage `export` of LLMVoX: network, vocoder and speaker encoder as one pack, half precision,
with named voices.

Invariant: what is written is read back through `engine.tts.llmvox.pack` before the stage is done.
"""

from engine.training.llmvox.encode import read_encoded
from engine.training.llmvox.stage import shape_of
from engine.training.packing import (
    finish,
    fresh_folder,
    save_vector_voices,
    write_networks,
    write_tables,
)
from engine.training.run import Run
from engine.tts.llmvox import pack
from engine.tts.llmvox.config import Generation
from engine.tts.pack_files import VOCODER_FILE, VOICE_FILE
from engine.tts.packs import SPEAKER_FILE


def export_pack(run: Run) -> None:
    """Write the pack."""
    inputs = run.require("corpus", "speaker", "encode", "decoder", "voice")
    folder = fresh_folder(run)
    files = {"voice": VOICE_FILE, "decoder": VOCODER_FILE, "speaker": SPEAKER_FILE}
    write_networks(run, files, halved={"voice", "decoder"})
    export = run.recipe.export
    generation = Generation(temperature=export.temperature, dropout=run.recipe.llmvox.forgotten)
    write_tables(run, pack.PackConfig(export.name, shape_of(run.recipe), generation))
    names = save_vector_voices(run, read_encoded(run).people)
    pack.load(folder)
    finish(run, inputs, names)
