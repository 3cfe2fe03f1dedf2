#!/usr/bin/env bash
# Checks the style and runs every test; arguments go to pytest (for example -k threshold).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(bash "$root/requirements/environment.sh" test)
cd "$root"
"$python" -m ruff check .
"$python" -m ruff format --check .
exec "$python" -m pytest "$@"
