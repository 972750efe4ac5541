#!/bin/sh
# build.sh VERSION SUITE EPOCH, run inside a clean Debian: makes /out/rubato_*.deb of /release.
#
# The environment lies in /opt/rubato/env-VERSION with the pinned packages, each checked against its
# hash. torch is the pinned build for the processor; where no build of it is pinned for this
# Debian's Python, Debian's own torch is used and depended on.
set -eu
version=$1 suite=$2 epoch=$3
export UV_NO_CONFIG=1 UV_CACHE_DIR=/var/cache/uv UV_LINK_MODE=hardlink
unset PYTHONDONTWRITEBYTECODE || true
say() { echo "  $*"; }

say "Packages of Debian that the build needs"
apt-get -q update >/dev/null
depends=$(tr -d , </release/depends)
apt-get -q install -y --no-install-recommends python3 zstd $depends >/var/log/apt.log 2>&1 ||
    { tail /var/log/apt.log; exit 1; }
python=$(python3 -c 'import sys; print("python3.%d" % sys.version_info[1])')
architecture=$(dpkg --print-architecture)
tree=/build/tree
rm -rf /build && mkdir -p "$tree/opt/rubato" /build/try
# made where it will live, because programs in it name their interpreter by its path
env=/opt/rubato/env-$version
rm -rf "$env"

say "The environment"
/release/uv venv --quiet --no-project --python "/usr/bin/$python" "$env"
get() { /release/uv pip install --quiet --no-deps --python "$env/bin/python" "$@"; }
get --require-hashes --only-binary :all: -r /release/pins/run.txt
site=$env/lib/$python/site-packages
pinned() {
    for source in "--no-index" "--torch-backend=cpu"; do
        get --require-hashes --only-binary :all: "$source" -r /release/pins/torch-linux-cpu.txt \
            2>/var/log/torch.log && return
    done
    return 1
}
torch=
if pinned; then
    say "torch: the pinned build"
else
    say "torch: Debian's own, because none is pinned for $python here"
    apt-get -q install -y --no-install-recommends python3-torch >/var/log/apt.log 2>&1 ||
        { cat /var/log/torch.log; tail /var/log/apt.log; exit 1; }
    has=$(dpkg-query -W -f '${Version}' python3-torch)
    if dpkg --compare-versions "$has" lt 2.6; then
        cat /var/log/torch.log
        echo "No torch for $python can be reached, and Debian's own $has is too old." >&2
        exit 1
    fi
    for package in torch torchgen functorch; do
        [ -e "/usr/lib/python3/dist-packages/$package" ] &&
            ln -s "/usr/lib/python3/dist-packages/$package" "$site/$package"
    done
    torch="python3-torch (>= 2.6), "
fi
get --no-index /release/rubato-"$version"-*.whl

say "Trying it"
QT_QPA_PLATFORM=offscreen RUBATO_CONFIG=/build/try RUBATO_DATA=/build/try HOME=/build/try \
    "$env/bin/python" -P -m app.installed /build/try

say "The package"
# The byte code of what was imported is made anew, to be used whatever the dates of the sources are:
# all files get the release's date below, and what then seems older is compiled again at every start.
find "$env" -name '*.cpython-*.pyc' | sort |
    sed 's,__pycache__/\([^/]*\)\.cpython-[0-9]*\.pyc$,\1.py,' >/build/imported
"$env/bin/python" -m compileall -q -f --invalidation-mode unchecked-hash -i /build/imported
# what only builds or tests other programs, or names the cache of this machine
rm -rf "$site"/torch/include "$site"/PySide6/include
find "$site" -name '*.a' -delete
[ ! -d "$site/torch/bin" ] || find "$site/torch/bin/" -type f ! -name torch_shm_manager -delete
find "$site" -name direct_url.json -delete
find "$site" -name '*.dist-info' -type d | while read -r each; do rm -f "$each/uv_cache.json"; done
find "$site" -path '*.dist-info/RECORD' -exec sed -i '/direct_url\.json,/d; /uv_cache\.json,/d' {} +
rm -f "$env/.lock" "$env/CACHEDIR.TAG"
find "$env" -name .gitignore -delete
# programs of packages and their manuals, which nobody would find; and what only a loader reads
# needs no x
find "$env/bin" -type f -delete
rm -rf "$env/share"
find "$env" -type d -empty -delete
find "$env" -type f -name '*.so*' -exec chmod -x {} +
cp -a "$env" "$tree/opt/rubato/"
install -Dm755 /recipe/files/rubato.sh "$tree/usr/bin/rubato"
install -Dm644 /release/rubato.desktop \
    "$tree/usr/share/applications/org.rubato.Rubato.desktop"
icons=$tree/usr/share/icons/hicolor
svg=$site/app/_resources/icons/rubato.svg
install -Dm644 "$svg" "$icons/scalable/apps/org.rubato.Rubato.svg"
QT_QPA_PLATFORM=offscreen "$env/bin/python" /recipe/files/icons.py "$svg" "$icons" org.rubato.Rubato
date=$(date -u -d "@$epoch" +%Y-%m-%d)
mkdir -p "$tree/usr/share/metainfo"
sed "s/@VERSION@/$version/; s/@DATE@/$date/" /recipe/files/org.rubato.Rubato.metainfo.xml \
    >"$tree/usr/share/metainfo/org.rubato.Rubato.metainfo.xml"
mkdir -p "$tree/usr/share/man/man1"
sed "s/@VERSION@/$version/; s/@DATE@/$date/" /recipe/files/rubato.1 |
    gzip -9n >"$tree/usr/share/man/man1/rubato.1.gz"
doc=$tree/usr/share/doc/rubato
install -Dm644 /recipe/files/copyright "$doc/copyright"
printf 'rubato (%s) %s; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n' \
    "$version~$suite" "$suite" "$version" "The Rubato project <rubato@localhost>" \
    "$(date -u -R -d "@$epoch")" | gzip -9n >"$doc/changelog.gz"
mkdir -p "$tree/usr/share/lintian/overrides"
cat /recipe/files/lintian-overrides /recipe/files/lintian-overrides-others \
    >"$tree/usr/share/lintian/overrides/rubato"

mkdir -p "$tree/DEBIAN"
for script in preinst postinst prerm postrm; do
    sed "s/@VERSION@/$version/g" "/recipe/files/$script" >"$tree/DEBIAN/$script"
    chmod 755 "$tree/DEBIAN/$script"
done
# as dpkg-gencontrol counts, whatever the file system needs
kilobytes=$(find "$tree" -name DEBIAN -prune -o -printf '%y %s\n' |
    awk '{ sum += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print sum }')
cat >"$tree/DEBIAN/control" <<END
Package: rubato
Version: $version~$suite
Architecture: $architecture
Maintainer: The Rubato project <rubato@localhost>
Installed-Size: $kilobytes
Depends: ${torch}python3, $python, $(cat /release/depends), libc6, zlib1g, libstdc++6, libgcc-s1
Recommends: pipewire-pulse | pulseaudio, libasound2-plugins
Suggests: speech-dispatcher
Section: sound
Priority: optional
Description: voice assistant with a pace that follows your hand
 Rubato listens, thinks and speaks on this computer alone. It starts to speak
 with the first word its language model writes, and a slider changes how fast
 it speaks while it speaks. A voice is taken from a recording dropped on it.
END
(cd "$tree" && find . -path ./DEBIAN -prune -o -type f -print0 | sort -z | xargs -0 md5sum |
    sed 's, \./, ,' >DEBIAN/md5sums)
chmod -R u+rwX,go+rX,go-w "$tree"
find "$tree" -newermt "@$epoch" -exec touch -hd "@$epoch" {} +
deb=/out/rubato_${version}~${suite}_$architecture.deb
SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zzstd -z6 --build "$tree" "$deb.new" >/dev/null
mv "$deb.new" "$deb"
say "$(basename "$deb"): $(du -h "$deb" | cut -f1), on the disk $(du -sh "$tree/opt" | cut -f1)"
