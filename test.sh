#!/usr/bin/env bash
# Checks style and types, then runs every test, some files at a time; arguments go to pytest (for
# example -k threshold, or -n 0 for one after the other).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(bash "$root/requirements/environment.sh" test)
cd "$root"
"$python" -m ruff check .
"$python" -m ruff format --check .
# Modules are compiled once, whatever is set here, not by each process that needs them.
export PYTHONDONTWRITEBYTECODE=
# Types are checked on one core beside all the rest; what is found is said at the end.
found=$(mktemp)
types=
trap '[ -z "$types" ] || kill "$types" 2>/dev/null || :; rm -f "$found"' EXIT
"$python" -m mypy >"$found" 2>&1 &
types=$!
trap 'exit 130' INT  # pytest takes Ctrl+C for itself
status=0
"$python" -m pytest -n 3 --dist loadfile "$@" || status=$?
wait "$types" || status=1
types=
cat "$found"
exit "$status"
