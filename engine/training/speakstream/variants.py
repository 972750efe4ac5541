"""The stage `variants`: the pack with other windows, which `compare` measures as rows of their own.
The paper trains one network a window (TI); here one has learnt all of them.
"""

from dataclasses import replace
from typing import Final

from engine.training.packing import install_variant, pack_folder
from engine.training.run import Run
from engine.tts import packs
from engine.tts.speakstream import pack

WINDOWS: Final = {"speakstream-1": 1, "speakstream-2": 2, "speakstream-4": 4}


def make_variants(run: Run) -> None:
    """Put the packs where `compare` looks for them."""
    inputs = run.require("export")
    plain = pack.read_pack_config(pack_folder(run) / packs.CONFIG_FILE)
    for name, window in WINDOWS.items():
        generation = replace(plain.generation, window=window)
        install_variant(run, name, replace(plain, generation=generation))
    run.finish("variants", inputs)
