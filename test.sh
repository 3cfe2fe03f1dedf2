#!/usr/bin/env bash
# Checks style and types, then runs every test, some files at a time; arguments go to pytest (for
# example -k threshold, or -n 0 for one after the other).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(bash "$root/requirements/environment.sh" test)
cd "$root"
"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy
exec "$python" -m pytest -n auto --maxprocesses 4 --dist loadfile "$@"
