# Sourced by the scripts beside it: makes .venv in the checkout, once per pyproject.toml, and
# sets PY to its interpreter. PYTHON chooses the interpreter that the environment is made with.

root=$(cd "$(dirname "$0")/.." && pwd -P)
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

PY=$root/.venv/bin/python
stamp=$root/.venv/.made-from
wanted=$(cksum <"$root/pyproject.toml")${EXTRAS:-dev}
if [ ! -x "$PY" ] || [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
    base=$(find_python) || exit 1
    if [ ! -x "$PY" ]; then
        echo "making .venv with $("$base" --version)" >&2
        "$base" -m venv "$root/.venv" || exit 1
    fi
    echo "installing the suite and its development tools into .venv" >&2
    "$PY" -m pip install --quiet --disable-pip-version-check -e "$root[${EXTRAS:-dev}]" || exit 1
    printf '%s' "$wanted" >"$stamp"
fi
PATH=$root/.venv/bin:$PATH
export PATH
