#!/bin/bash
# A clean Debian in a folder, to build in and to try installations in. Root and debootstrap needed.
#
#   root.sh make SUITE FOLDER            a new one (kept beside it as FOLDER.tar for the next)
#   root.sh run FOLDER [--bind DIR:INSIDE]... COMMAND...
#
# How this machine reaches package servers (proxy, certificates, apt's settings, folders of wheels)
# is handed in while a command runs; nothing of it stays in what is built.
set -euo pipefail

make_root() {
    local suite=$1 root=$2
    rm -rf "$root"
    mkdir -p "$root"
    if [ -f "$root.tar" ]; then
        tar -C "$root" -xpf "$root.tar"
        return
    fi
    debootstrap --variant=minbase "$suite" "$root" >"$root.log" 2>&1 || { tail -20 "$root.log"; exit 1; }
    tar -C "$root" -cf "$root.tar.new" .
    mv "$root.tar.new" "$root.tar"
}

run_in_root() {
    local root=$1
    shift
    local binds=()
    while [ "${1:-}" = --bind ]; do
        binds+=("$2")
        shift 2
    done
    local links=() folder
    for folder in ${UV_FIND_LINKS:-${PIP_FIND_LINKS:-}}; do
        if [ -d "$folder" ]; then
            binds+=("$folder:/run/wheels/${#links[@]}")
            links+=("/run/wheels/${#links[@]}")
        fi
    done
    local certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
    export ROOT=$root BINDS="${binds[*]:-}" CERTIFICATES=$certificates
    # mounts and processes of its own, so that both end with the command
    exec unshare --mount --pid --fork --kill-child bash -c '
        set -e
        mount -t proc proc "$ROOT/proc"
        mount --rbind /dev "$ROOT/dev"
        mount -t tmpfs -o mode=755 tmpfs "$ROOT/run"
        mkdir -p "$ROOT/run/apt"
        cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
        cp "$CERTIFICATES" "$ROOT/run/certificates.crt" 2>/dev/null || true
        for file in /etc/apt/apt.conf.d/*; do
            if grep -qiE "^ *acquire" "$file"; then cat "$file"; fi
        done > "$ROOT/run/apt/conf"
        for pair in $BINDS; do
            mkdir -p "$ROOT${pair#*:}"
            mount --bind "${pair%%:*}" "$ROOT${pair#*:}"
        done
        exec chroot "$ROOT" "$@"
    ' bash env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive APT_CONFIG=/run/apt/conf SSL_CERT_FILE=/run/certificates.crt \
        PIP_CERT=/run/certificates.crt UV_FIND_LINKS="${links[*]:-}" \
        ${UV_DEFAULT_INDEX:+UV_DEFAULT_INDEX="$UV_DEFAULT_INDEX"} ${HTTPS_PROXY:+HTTPS_PROXY="$HTTPS_PROXY"} \
        "$@"
}

case $1 in
make) make_root "$2" "$3" ;;
run) shift && run_in_root "$@" ;;
*) sed -n '2,8p' "$0" && exit 2 ;;
esac
