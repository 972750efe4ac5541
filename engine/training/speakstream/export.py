"""The stage `export` of SpeakStream: network, vocoder and speaker encoder as one pack, half
precision, with named voices.

Invariant: what is written is read back through `engine.tts.speakstream.pack` before the stage is
done.
"""

from engine.training.packing import (
    finish,
    fresh_folder,
    save_vector_voices,
    write_networks,
    write_tables,
)
from engine.training.run import Run
from engine.training.speakstream.encode import read_encoded, read_scale
from engine.training.speakstream.stage import shape_of
from engine.tts.pack_files import VOCODER_FILE, VOICE_FILE
from engine.tts.packs import SPEAKER_FILE
from engine.tts.speakstream import pack
from engine.tts.speakstream.config import Generation


def export_pack(run: Run) -> None:
    """Write the pack."""
    inputs = run.require("corpus", "speaker", "encode", "decoder", "voice")
    recipe, folder, scale = run.recipe, fresh_folder(run), read_scale(run)
    files = {"voice": VOICE_FILE, "decoder": VOCODER_FILE, "speaker": SPEAKER_FILE}
    write_networks(run, files, halved={"voice", "decoder"})
    generation = Generation(
        window=recipe.speakstream.window,
        hop=recipe.speakstream.hop,
        temperature=recipe.export.temperature,
        dropout=recipe.speakstream.forgotten,
        pace=round(scale.pace, 3),
    )
    shape = shape_of(recipe.speakstream, recipe.speaker.width)
    write_tables(run, pack.PackConfig(recipe.export.name, shape, generation, scale.levels))
    names = save_vector_voices(run, read_encoded(run).training)
    pack.load(folder)
    finish(run, inputs, names)
