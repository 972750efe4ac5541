"""icons.py SVG FOLDER NAME: write the icon as PNG in the sizes of desktops and catalogues."""

import sys
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication, QIcon

SIZES = (48, 64, 128, 256)

application = QGuiApplication(sys.argv[:1])
icon, folder, name = QIcon(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
for size in SIZES:
    path = folder / f"{size}x{size}" / "apps" / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not icon.pixmap(QSize(size, size)).save(str(path)):
        sys.exit(f"{path} cannot be written")
