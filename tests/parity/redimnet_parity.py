"""Compares our ReDimNet with its authors' code on the same random weights, and prints what
tests/engine/tts/voxtream/test_reference.py keeps of theirs.

    PYTHONPATH=. python tests/parity/redimnet_parity.py PATH_OF_THE_REFERENCE

PATH is a checkout of IDRnD/ReDimNet (MIT); torchaudio must be importable. Nothing of it is copied.
Exit status 1 when an element differs by more than 1e-4 of the largest.
"""

import sys
from pathlib import Path

import torch

from tests.engine.tts.voxtream.test_reference import random_redimnet, some_sound

TOLERANCE = 1e-4


def main() -> int:
    sys.path.insert(0, str(Path(sys.argv[1])))
    from redimnet.model import ReDimNetWrap

    torch.set_grad_enabled(False)
    ours = random_redimnet()
    theirs = ReDimNetWrap().eval()  # its defaults are size M
    theirs.load_state_dict(ours.state_dict())
    wanted = theirs(some_sound()[None])[0]
    error = float((ours.embed(some_sound()) - wanted).abs().max() / wanted.abs().max())
    values = ", ".join(f"{value:.5f}" for value in wanted[::8].tolist())
    sys.stdout.write(f"{error:.1e}\n{values}\n")
    return int(error > TOLERANCE)


if __name__ == "__main__":
    raise SystemExit(main())
