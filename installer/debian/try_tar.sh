#!/bin/sh
# try_tar.sh RELEASE [WHEELS], run inside a clean Debian by `deb.sh try-tar`: RELEASE, the folder in
# the tar, is installed by a person without rights whose home is not ASCII: into a folder that
# cannot be written, by two at once, cut off in the middle, and, with WHEELS, without a network.
set -eu
release=$1 wheels=${2:-}
say() { echo "  $*"; }
die() { echo "  FAILED: $*"; exit 1; }
as_person() { setpriv --reuid zoe --regid zoe --clear-groups env HOME=/srv/zoë "$@"; }
log=/tmp/log

say "A machine with a desktop's libraries, and a person"
apt-get -q update >$log 2>&1
apt-get -q install -y --no-install-recommends python3 $(tr -d , <"$release/depends") >$log 2>&1 ||
    { tail $log; die "the libraries"; }
useradd -m -d /srv/zoë -s /bin/sh zoe
program=/srv/zoë/.local/share/rubato-program
cd /srv/zoë

say "A folder that cannot be written"
as_person env RUBATO_PROGRAM=/usr/rubato "$release/rubato-setup" install >$log 2>&1 && die "installed"
grep -q "Set RUBATO_PROGRAM to a folder" $log || { cat $log; die "no advice"; }

say "Cut off in the middle, by SIGKILL, while packages are fetched"
as_person setsid "$release/rubato-setup" install >$log 2>&1 &
until grep -q "Downloaded" $log; do sleep 0.2; done
kill -KILL -- -$! 2>/dev/null || kill -KILL $!
[ ! -e $program/current ] || die "something was put in force"

say "Two at once go on from there"
began=$(date +%s)
as_person "$release/rubato-setup" install >$log.1 2>&1 &
first=$!
as_person "$release/rubato-setup" install >$log.2 2>&1 || { cat $log.2; die "the second"; }
wait $first || { cat $log.1; die "the first"; }
grep -qh "Another installation" $log.1 $log.2 || die "neither waited"
say "installed in $(($(date +%s) - began)) s, $(du -sh $program | cut -f1), $(ls -d $program/env-* | wc -l) environment"
as_person .local/bin/rubato say "Hello there." --out /srv/zoë/said.wav 2>$log || { cat $log; die "say"; }

if [ -n "$wheels" ]; then
    say "Without a network, from a folder of wheels"
    unshare --net setpriv --reuid zoe --regid zoe --clear-groups env HOME=/srv/zoë UV_FIND_LINKS= \
        RUBATO_PROGRAM=/srv/zoë/2 "$release/rubato-setup" install --wheels "$wheels" >$log 2>&1 ||
        { tail $log; die "offline"; }
    as_person env RUBATO_PROGRAM=/srv/zoë/2 "$release/rubato-setup" uninstall --keep-own-files
fi

say "Uninstall"
as_person mkdir -p .config/autostart .local/share/rubato
as_person touch .local/share/rubato/mine .config/autostart/org.rubato.Rubato.desktop
as_person "$release/rubato-setup" uninstall --keep-own-files
left=$(find /srv/zoë -type f -newer "$release/payload.json" ! -name 'said.wav' ! -name '.bash*' \
    ! -name .profile ! -path '*/.cache/*')
[ "$left" = /srv/zoë/.local/share/rubato/mine ] || die "left: $left"
say "All of it works."
