#!/usr/bin/env bash
# Checks style and types, then runs every test, some files at a time; arguments go to pytest (for
# example -k threshold, or -n 0 for one after the other).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(bash "$root/requirements/environment.sh" test)
cd "$root"
"$python" -m ruff check .
"$python" -m ruff format --check .
# Modules and tests are compiled once, whatever is set here, not by each process that needs them.
export PYTHONDONTWRITEBYTECODE=
# Types are checked on one core beside all the rest; what is found is said at the end.
found=$(mktemp)
trap 'rm -f "$found"' EXIT
"$python" -m mypy >"$found" 2>&1 &
types=$!
# Collecting once leaves the tests compiled for all workers.
"$python" -m pytest --collect-only -qq "$@" -n 0 >/dev/null || true
status=0
"$python" -m pytest -n auto --maxprocesses 4 --dist loadfile "$@" || status=$?
wait "$types" || status=1
cat "$found"
exit "$status"
