"""The program's icon in the formats of Windows and macOS: one file with a PNG for every size.

Invariant: always drawn from resources/icons/rubato.svg; no other picture is stored.
"""

import struct
from collections.abc import Iterable
from pathlib import Path

from installer.plan import ROOT

SVG = ROOT / "resources" / "icons" / "rubato.svg"
ICO_SIZES = (16, 24, 32, 48, 64, 256)
# Apple's names for PNGs of these sizes in pixels.
ICNS_KINDS = {"icp4": 16, "icp5": 32, "ic11": 32, "ic12": 64, "ic07": 128, "ic08": 256, "ic09": 512}


def pngs(sizes: Iterable[int]) -> dict[int, bytes]:
    """Return the icon at these sizes in pixels, each as the content of a PNG file."""
    from PySide6.QtCore import QBuffer, QIODevice, Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    drawing, found = QSvgRenderer(str(SVG)), {}
    for size in sizes:
        image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        drawing.render(painter)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        found[size] = bytes(buffer.data().data())
    return found


def write_ico(path: Path) -> None:
    """Write rubato.ico for Windows."""
    pictures = pngs(ICO_SIZES)
    entries, offset = b"", 6 + 16 * len(pictures)
    for size, png in pictures.items():
        edge = size % 256  # 0 means 256
        entries += struct.pack("<BBBBHHII", edge, edge, 0, 0, 1, 32, len(png), offset)
        offset += len(png)
    head = struct.pack("<HHH", 0, 1, len(pictures))
    path.write_bytes(head + entries + b"".join(pictures.values()))


def write_icns(path: Path) -> None:
    """Write rubato.icns for macOS."""
    pictures = pngs(ICNS_KINDS.values())
    parts = b"".join(
        kind.encode() + struct.pack(">I", 8 + len(pictures[size])) + pictures[size]
        for kind, size in ICNS_KINDS.items()
    )
    path.write_bytes(b"icns" + struct.pack(">I", 8 + len(parts)) + parts)
