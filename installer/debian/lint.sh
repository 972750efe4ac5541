#!/bin/sh
# lint.sh DEB [all]: lintian's verdict on the package, every tag down to the informational ones; run
# by `make try-deb`. The overrides, with their reasons: files/lintian-overrides*.
#
# It looks at a copy without the packages of other makers, which are checked by their hashes and
# left as they are: lintian reads all symbols of every library, which takes it most of an hour with
# torch and Qt. `all` looks at those too.
set -eu
deb=$1
if [ "${2:-}" != all ]; then
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    tree=$place/tree
    dpkg-deb -R "$deb" "$tree"
    find "$tree"/opt/rubato/env-*/lib/python3*/site-packages -mindepth 1 -maxdepth 1 \
        ! -name app ! -name engine ! -name 'rubato-*' -exec rm -rf {} +
    cp "$(dirname "$0")/files/lintian-overrides" "$tree/usr/share/lintian/overrides/rubato"
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -print0 | sort -z | xargs -0 md5sum |
        sed 's, \./, ,' >DEBIAN/md5sums)
    deb=$place/$(basename "$deb")
    dpkg-deb --root-owner-group -Zzstd -z1 --build "$tree" "$deb" >/dev/null
fi
# Debian 13's also runs appstreamcli, which misses a public page of the project; there is none yet, and
# try.sh validates all else. Debian 12's ends at the name of a tag that it does not know.
set --
later=appstream-metadata-validation-failed
[ ! -e /usr/share/lintian/tags/a/$later.tag ] || set -- --suppress-tags $later
lintian --allow-root --tag-display-limit 0 --display-info --fail-on error,warning,info "$@" "$deb"
