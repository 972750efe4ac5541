"""Paths of the published LLMVoX: fetched files and their conversion.

Invariant: imports no torch, so that listing voices stays quick.
"""

from pathlib import Path
from typing import Final

from engine.settings_file import data_folder

NAME: Final = "llmvox-published"  # of the synthesiser, and of its asset
VOICE: Final = "LLMVoX"  # its title, and its one voice
NETWORK, CODEC, TEXT = NAME, "wavtokenizer", "byt5-g2p"  # assets
PICKLES: Final = {
    NETWORK: "ckpt_english_tiny.pt",
    CODEC: "wavtokenizer_large_speech_320_24k.ckpt",
    TEXT: "pytorch_model.bin",
}
CONVERTED: Final = "converted.safetensors"  # beside the pickle of the network and of the codec


def models_folder() -> Path:
    """Return the folder of assets, each in a folder of its name."""
    return data_folder() / "models"


def pickle_of(asset: str) -> Path:
    """Return the path of an asset's file, which need not exist."""
    return models_folder() / asset / PICKLES[asset]


def is_fetched() -> bool:
    """Return True if all files exist; loading verifies them."""
    return all(pickle_of(asset).is_file() for asset in PICKLES)
