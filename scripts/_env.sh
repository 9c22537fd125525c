# Sourced by the scripts beside it: makes .venv in the checkout, once per pyproject.toml, and
# sets PY to its interpreter. PYTHON chooses the interpreter that the environment is made with.
# EXTRAS=none leaves the development tools out; whoever wants them adds them later. pip gets a
# home that is thrown away then; the settings that it would have found in HOME still count.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"

find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    echo "error: Python 3.11 or newer with the venv module is needed (set PYTHON to one)" >&2
    return 1
}

# make_environment PYTHON SPEC: what pip installs as SPEC, with all that it needs.
make_environment() {
    if [ ! -x "$PY" ]; then
        echo "making .venv with $("$1" --version)" >&2
        "$1" -m venv "$root/.venv" || return 1
    fi
    "$PY" -m pip install --quiet --disable-pip-version-check -e "$2"
}

# The same with a HOME that is gone afterwards.
make_environment_apart() (
    apart=$(mktemp -d) || exit 1
    trap 'rm -rf "$apart"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    for file in "${XDG_CONFIG_HOME:-${HOME:-/}/.config}/pip/pip.conf" \
        "${HOME:-/}/Library/Application Support/pip/pip.conf" "${HOME:-/}/.pip/pip.conf"; do
        if [ -z "${PIP_CONFIG_FILE:-}" ] && [ -f "$file" ]; then
            PIP_CONFIG_FILE=$file
            export PIP_CONFIG_FILE
        fi
    done
    if [ -z "${NETRC:-}" ] && [ -f "${HOME:-/}/.netrc" ]; then
        NETRC=$HOME/.netrc # how to log in to an index
        export NETRC
    fi
    unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
    HOME=$apart make_environment "$@"
)

PY=$root/.venv/bin/python
stamp=$root/.venv/.made-from
extras=${EXTRAS:-dev}
project=$(cksum <"$root/pyproject.toml")
made=$(cat "$stamp" 2>/dev/null || true)
# An environment that has more than is wanted will do.
if [ ! -x "$PY" ] || { [ "$made" != "$project$extras" ] && [ "$extras/$made" != "none/${project}dev" ]; }; then
    base=$(find_python) || exit 1
    if [ "$extras" = none ]; then
        echo "installing the suite into .venv" >&2
        make_environment_apart "$base" "$root" || exit 1
    else
        echo "installing the suite and its development tools into .venv" >&2
        # An index may be slow, or drop a connection in the middle of a file, where pip gives up at once.
        for pause in 10 30 ''; do
            PIP_DEFAULT_TIMEOUT=${PIP_DEFAULT_TIMEOUT:-60} make_environment "$base" "$root[$extras]" && break
            [ -n "$pause" ] || exit 1
            echo "trying again in $pause s" >&2
            sleep "$pause"
        done
    fi
    printf '%s' "$project$extras" >"$stamp"
fi
PATH=$root/.venv/bin:$PATH
export PATH
