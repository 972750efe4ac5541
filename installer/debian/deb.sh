#!/bin/bash
# deb.sh build|try|try-tar SUITE...: dist/rubato_VERSION~SUITE_ARCH.deb, built and tried in a clean Debian of
# its own each. $ROOTS is where those are made (default: build/roots). `make deb`, `make try-deb`.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=$(dirname "$(dirname "$here")")
roots=${ROOTS:-$top/build/roots}
[ "$(id -u)" = 0 ] || { echo "Only root can make a clean Debian: sudo make deb" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "First: apt-get install debootstrap" >&2; exit 1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$top/pyproject.toml")
release=$top/dist/rubato-$version
what=$1
shift

bundle() {
    (cd "$top" && .venv/bin/python -m installer.bundle "$release")
    cp "$top/LICENSE" "$release/LICENSE"
    export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct || date +%s)}
    (cd "$top" && .venv/bin/python -c '
import sys
from app.desktop_entry import entry
from installer.system import WINDOW_AND_SOUND
print(", ".join(sorted({need.apt for need in WINDOW_AND_SOUND})), file=open(sys.argv[1], "w"))
open(sys.argv[2], "w").write(entry(["rubato"]))
' "$release/depends" "$release/rubato.desktop")
}

build() {
    "$here/root.sh" run "$2" --bind "$release:/release" --bind "$here:/recipe" \
        --bind "$top/dist:/out" sh /recipe/build.sh "$version" "$1" "$SOURCE_DATE_EPOCH"
}

try() {
    local debs=("$top/dist/rubato_$version~$1"_*.deb)
    "$here/root.sh" run "$2" --bind "$top:/checkout" --bind "$top/dist:/out" \
        sh /checkout/installer/debian/try.sh "/out/$(basename "${debs[0]}")"
}

try-tar() { # $WHEELS: a folder with all the packages, to install without a network as well
    "$here/root.sh" run "$2" --bind "$release:/release" --bind "$here:/recipe" \
        ${WHEELS:+--bind "$WHEELS:/wheels"} sh /recipe/try_tar.sh /release ${WHEELS:+/wheels}
}

mkdir -p "$top/dist" "$roots"
case $what in build | try-tar) bundle ;; try) ;; *) sed -n '2,3p' "$0" && exit 2 ;; esac
for suite in "$@"; do
    echo "  Debian $suite"
    "$here/root.sh" make "$suite" "$roots/$suite"
    "$what" "$suite" "$roots/$suite"
    rm -rf "${roots:?}/$suite"
done
