"""The icon files of Windows and macOS, read back by the programs that know them."""

import pytest
from PySide6.QtGui import QImageReader

from installer import icons


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
