"""The icon files of Windows and macOS, read back by the programs that know them."""

import struct

import pytest
from PySide6.QtGui import QImageReader

from installer import icons

PICTURES = {16: b"small", 256: b"large picture"}


def test_icon_files_name_each_picture_where_it_lies():
    made = icons.ico(PICTURES)
    assert struct.unpack_from("<HHH", made) == (0, 1, 2)
    for index, (size, png) in enumerate(PICTURES.items()):
        edge, *_, length, offset = struct.unpack_from("<BBBBHHII", made, 6 + 16 * index)
        assert (edge, made[offset : offset + length]) == (size % 256, png)
    made = icons.icns(dict.fromkeys(icons.ICNS_KINDS.values(), b"png"))
    assert (made[:4], struct.unpack(">I", made[4:8])[0]) == (b"icns", len(made))
    assert [made[8 + 11 * i : 12 + 11 * i].decode() for i in range(7)] == list(icons.ICNS_KINDS)


@pytest.mark.parametrize("name", ["rubato.ico", "rubato.icns"])
def test_qt_reads_the_program_s_icon_back(qapp, tmp_path, name):
    path = tmp_path / name
    (icons.write_ico if path.suffix == ".ico" else icons.write_icns)(path)
    reader = QImageReader(str(path))
    picture = reader.read()
    assert not picture.isNull(), reader.errorString()
    assert picture.hasAlphaChannel()
    colours = {picture.pixel(x, x) for x in range(0, picture.width(), 2)}
    assert len(colours) > 2  # something is drawn
