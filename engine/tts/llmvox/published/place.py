"""What is fetched for the published LLMVoX, where it lies, and what becomes of it.

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
    """Where assets lie, each in a folder of its name."""
    return data_folder() / "models"


def pickle_of(asset: str) -> Path:
    """The file that is fetched; need not exist."""
    return models_folder() / asset / PICKLES[asset]


def is_fetched() -> bool:
    """Whether all files are here; loading looks closer."""
    return all(pickle_of(asset).is_file() for asset in PICKLES)
