"""The code of Rubato.exe and bin/rubato.exe: run the bootstrapper of the release beside them.

Invariant: standard library only; this source is appended to the two programs unchanged.
"""

import os
import runpy
import sys
from pathlib import Path

folder = Path(sys.argv[0]).absolute().parent
home = folder if (folder / "release").is_dir() else folder.parent  # this may be bin/rubato.exe
os.environ["RUBATO_LAUNCHER"] = str(home / "Rubato.exe")
for name in ("PYTHONHOME", "PYTHONPATH"):  # set for other programs
    os.environ.pop(name, None)
sys.argv[0] = str(home / "release" / "bootstrapper")
runpy.run_path(sys.argv[0], run_name="__main__")
