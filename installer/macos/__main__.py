"""Make Rubato.app and its archive, on any system."""

import argparse
import os
import plistlib
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from installer import icons
from installer.bundle import bundle
from installer.plan import ROOT

APP = "Rubato.app"
OLDEST_MACOS = "14.0"  # all packages have a build for it
# macOS shows this text when it asks whether Rubato may use the microphone; without it, it kills
# programs that open one.
MICROPHONE = (
    "Rubato listens so that you can talk to it. What you say stays on this Mac unless you choose a "
    "server yourself."
)
_LAUNCHER = """\
#!/bin/sh
# Starts the Rubato that is installed for you; the first time installs it.
here=$(cd "$(dirname "$0")" && pwd)
export RUBATO_LAUNCHER="$here/Rubato"
exec "$here/../Resources/release/rubato-setup" start "$@"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m installer.macos", description=__doc__)
    parser.add_argument("folder", type=Path)
    print(make(parser.parse_args(arguments).folder))
    return 0


def make(folder: Path) -> Path:
    """Make the archive in `folder`; it gets its final name only when it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        app = Path(place, APP)
        resources = app / "Contents" / "Resources"
        resources.mkdir(parents=True)
        version = bundle(resources / "release", "macos").version
        put_application(app, version)
        made = Path(place, "made.zip")
        archive(app, made)
        return made.replace(folder / f"rubato-{version}-macos.zip")


def put_application(app: Path, version: str) -> None:
    """Write the files that make a folder with the release in Contents/Resources an application."""
    contents = app / "Contents"
    (contents / "MacOS").mkdir(parents=True)
    launcher = contents / "MacOS" / "Rubato"
    launcher.write_text(_LAUNCHER, encoding="utf-8")
    launcher.chmod(0o755)
    (contents / "PkgInfo").write_text("APPL????", encoding="ascii")
    (contents / "Info.plist").write_bytes(plistlib.dumps(info(version)))
    icons.write_icns(contents / "Resources" / "rubato.icns")
    shutil.copyfile(ROOT / "LICENSE", contents / "Resources" / "LICENSE.txt")


def info(version: str) -> dict[str, object]:
    """Return Info.plist."""
    return {
        "CFBundleDisplayName": "Rubato",
        "CFBundleExecutable": "Rubato",
        "CFBundleIconFile": "rubato.icns",
        "CFBundleIdentifier": "org.rubato.Rubato",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleName": "Rubato",
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "LSApplicationCategoryType": "public.app-category.productivity",
        "LSArchitecturePriority": ["arm64"],
        "LSMinimumSystemVersion": OLDEST_MACOS,
        "NSHighResolutionCapable": True,
        "NSHumanReadableCopyright": "GPL-3.0-or-later",
        "NSMicrophoneUsageDescription": MICROPHONE,
    }


def archive(app: Path, target: Path) -> None:
    """Zip the application with its executable bits; the same files give the same bytes."""
    made_at = int(os.environ.get("SOURCE_DATE_EPOCH", "1577836800"))  # otherwise 2020
    date = time.gmtime(made_at)[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in sorted(path for path in app.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(path.relative_to(app.parent).as_posix(), date)
            mode = 0o100755 if path.stat().st_mode & 0o100 else 0o100644
            member.create_system, member.external_attr = 3, mode << 16  # 3 is Unix
            member.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(member, path.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
