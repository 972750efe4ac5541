#!/bin/sh
# Installs Rubato for you alone, where that is still to be done, and starts it. Nothing but this
# folder is needed: where the machine has no Python 3.11 to 3.13, uv fetches one.
#
#   ./rubato-setup                                  install and start
#   ./rubato-setup install [--wheels DIR] [--variant cpu|cuda]
#   ./rubato-setup status | roll-back | uninstall
here=$(dirname "$(readlink -f "$0")")
home=${RUBATO_PROGRAM:-${XDG_DATA_HOME:-$HOME/.local/share}/rubato-program}
[ "$(uname)" = Darwin ] && home=${RUBATO_PROGRAM:-$HOME/Library/Application Support/rubato-program}
case $home in
"~/"*) home=$HOME/${home#"~/"} ;;
/*) ;;
*) home=$PWD/$home ;;
esac
if ! mkdir -p "$home" 2>/dev/null || [ ! -w "$home" ]; then
    echo "rubato: Rubato's folder $home cannot be written. Set RUBATO_PROGRAM to a folder on a disk" \
        "that can, with 3 GB free, and start again." >&2
    exit 1
fi
export RUBATO_PROGRAM="$home" UV_NO_CONFIG=1 UV_CACHE_DIR="$home/cache"
export UV_PYTHON_INSTALL_DIR="$home/python"
unset VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH UV_PYTHON UV_PROJECT UV_ENV_FILE
exec "$here/uv" run --quiet --no-project --directory / --python '>=3.11,<3.14' \
    "$here/bootstrapper" "$@"
