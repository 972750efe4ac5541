#!/bin/sh
# try.sh DEB [OLDER.deb], run inside a clean Debian by `make try-deb`: installs, starts, updates,
# kills, rolls back and removes it. /checkout is the source with its virtual sound card.
# OLDER is made of DEB where none is given: the same program under an earlier version.
set -eu
deb=$1
say() { echo "  $*"; }
die() { echo "  FAILED: $*"; exit 1; }
quiet() { "$@" >/var/log/quiet.log 2>&1 || { tail -30 /var/log/quiet.log; die "$*"; }; }
as_person() { setpriv --reuid zoe --regid zoe --clear-groups env HOME=/srv/zoë XDG_RUNTIME_DIR=/tmp/zoe "$@"; }
speaks() { # the program starts and says something that can be heard
    as_person rubato say "It still works." --out /tmp/zoe/said.wav 2>/tmp/zoe/said.log ||
        { cat /tmp/zoe/said.log; die "$1"; }
    [ "$(stat -c %s /tmp/zoe/said.wav)" -gt 20000 ] || die "$1: nothing was said"
}

say "A machine with a desktop's programs, and a person"
quiet apt-get -q update
quiet apt-get -q install -y --no-install-recommends xvfb xauth pulseaudio pulseaudio-utils \
    libasound2-plugins flite desktop-file-utils appstream lintian man-db xdotool
useradd -m -d /srv/zoë -s /bin/sh zoe
mkdir -m 700 -p /tmp/zoe && chown zoe /tmp/zoe

say "Install"
began=$(date +%s)
quiet apt-get -q install -y --no-install-recommends "$deb"
say "installed in $(($(date +%s) - began)) s, $(du -sh /opt/rubato | cut -f1) in /opt"
quiet desktop-file-validate /usr/share/applications/org.rubato.Rubato.desktop
# there is no public page of the project to name yet
about=/usr/share/metainfo/org.rubato.Rubato.metainfo.xml
appstreamcli validate --no-net $about >/dev/null ||
    quiet appstreamcli validate --no-net --override url-homepage-missing=info $about
/checkout/installer/debian/lint.sh "$deb" >/var/log/lintian.log 2>&1 ||
    { grep -v '^N:' /var/log/lintian.log; die "lintian"; }
say "lintian has nothing to say"
[ -n "$(man -w rubato 2>/dev/null || ls /usr/share/man/man1/rubato.1.gz)" ] || die "no man page"

as_person /opt/rubato/current/bin/python -I -v -c "import engine.api" 2>/tmp/zoe/imports
grep -q "code object from '/opt/.*/engine/__pycache__/api" /tmp/zoe/imports || die "no byte code is used"

say "Start, ask, hear the answer"
began=$(date +%s)
as_person xvfb-run -a /opt/rubato/current/bin/python /checkout/tests/installer/debian/first_reply.py \
    /tmp/zoe || die "the first reply"

say "Update, with what the person made"
old=/var/tmp/older.deb
if [ $# -gt 1 ]; then cp "$2" $old; else /checkout/installer/debian/as_version.sh "$deb" 0.0.9 $old; fi
voice=/srv/zoë/.local/share/rubato/voices/mine.txt
as_person sh -c "mkdir -p '$(dirname $voice)' && echo mine >'$voice'"
quiet apt-get -q install -y --no-install-recommends --allow-downgrades $old
speaks "the older version"
now=$(readlink /opt/rubato/current)
quiet apt-get -q install -y --no-install-recommends "$deb"
[ "$(readlink /opt/rubato/current)" != "$now" ] || die "the update is not in force"
speaks "after the update"

say "Killed in the middle of an update, again and again"
began=$(date +%s)
quiet dpkg -i $old
whole=$(($(date +%s) - began))
for part in 1 3 5 7 8 9; do
    seconds=$((whole * part / 10))
    timeout -s KILL $seconds dpkg -i "$deb" >/dev/null 2>&1 || true
    speaks "killed after $seconds s"
    state=$(dpkg-query -W -f '${Status}' rubato)
    say "killed after $seconds of $whole s: $state, $(readlink /opt/rubato/current) starts"
done
quiet dpkg -i "$deb"
speaks "completed after the kills"
[ ! -e /opt/rubato/kept ] || die "the replaced version was left"

say "Roll back"
quiet apt-get -q install -y --no-install-recommends --allow-downgrades $old
[ "$(readlink /opt/rubato/current)" = "$now" ] || die "the older version is not in force"
speaks "after rolling back"
[ "$(cat $voice)" = mine ] || die "what the person made is gone"

say "Remove"
quiet apt-get -q purge -y rubato
for path in /opt/rubato /usr/bin/rubato /usr/share/applications/org.rubato.Rubato.desktop; do
    [ ! -e $path ] || die "$path was left"
done
[ "$(cat $voice)" = mine ] || die "what the person made is gone"
say "All of it works."
