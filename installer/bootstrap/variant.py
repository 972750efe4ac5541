"""Which build of torch fits the machine: with CUDA if NVIDIA's driver is active, else without."""

import shutil
from enum import Enum
from pathlib import Path

from installer.commands import succeeds


class Variant(Enum):
    CPU = "cpu"
    CUDA = "cuda"

    @property
    def room_gb(self) -> float:
        """The disk space that a first installation needs at most, including the cache."""
        return 3.0 if self is Variant.CPU else 10.0


def fitting(driver: Path = Path("/proc/driver/nvidia/gpus")) -> Variant:
    """The variant by the driver, not by the hardware: without a driver a graphics card cannot be
    used."""
    if shutil.which("nvidia-smi") is None:
        return Variant.CPU
    if driver.is_dir() and any(driver.iterdir()):  # faster than nvidia-smi, which takes seconds
        return Variant.CUDA
    return Variant.CUDA if succeeds(["nvidia-smi", "-L"]) else Variant.CPU
