"""Which build of torch fits the machine: with CUDA where NVIDIA's driver answers, else without."""

import shutil
from enum import Enum
from pathlib import Path

from installer.commands import succeeds


class Variant(Enum):
    CPU = "cpu"
    CUDA = "cuda"

    @property
    def room_gb(self) -> float:
        """What a first installation takes on the disk at its widest, cache included."""
        return 3.0 if self is Variant.CPU else 10.0


def fitting(driver: Path = Path("/proc/driver/nvidia/gpus")) -> Variant:
    """By the driver, not by the hardware: without it a graphics card cannot be used."""
    if shutil.which("nvidia-smi") is None:
        return Variant.CPU
    if driver.is_dir() and any(driver.iterdir()):  # quicker than nvidia-smi, which takes seconds
        return Variant.CUDA
    return Variant.CUDA if succeeds(["nvidia-smi", "-L"]) else Variant.CPU
