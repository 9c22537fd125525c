#!/bin/sh
# Install the suite (see --help), or play its story in a throw-away folder (--demo).
# Thin: it finds a Python and hands over to what `python -m agent_install` runs.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# --demo: the environment is .venv in this checkout, with what the suite runs with and no more. What
# makes it has a home of its own, so that nothing appears in HOME.
if [ "${1:-}" = --demo ]; then
    shift
    PIP_NO_CACHE_DIR=1 EXTRAS=none exec sh -c '. "$1/scripts/_env.sh"; shift; exec "$PY" scripts/demo "$@"' \
        "$root/scripts/demo" "$root" "$@"
fi

recent() {
    "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        recent "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or newer"
        printf '%s\n' "$PYTHON"
        return
    fi
    if command -v uv >/dev/null 2>&1; then
        if found=$(uv python find --system '>=3.11' 2>/dev/null) ||
            { uv python install 3.13 >&2 && found=$(uv python find --system '>=3.11' 2>/dev/null); }; then
            printf '%s\n' "$found"
            return
        fi
    fi
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$name" >/dev/null 2>&1 && recent "$name"; then
            printf '%s\n' "$name"
            return
        fi
    done
    fail "Python 3.11 or newer is needed and was not found (install it, or uv, or set PYTHON to one)"
}

python=$(find_python) || exit 1
# Not by PYTHONPATH, which cannot hold a path with a colon and would be seen by all that is started.
exec "$python" -I -c 'import sys
sys.path.insert(0, sys.argv.pop(1))
from agent_install.cli import main
sys.exit(main())' "$root" "$@"
