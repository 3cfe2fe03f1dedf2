#!/usr/bin/env bash
# From seeds to vessels and their centrelines: without arguments on the built-in liver phantom, with
# arguments on a file (the same arguments as `fuzzy-vessel run`; see README.md).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(bash "$root/requirements/environment.sh" demo)
if [ $# -eq 0 ]; then
    exec "$python" -m fuzzy_vessel demo --out "$PWD/demo-output"
fi
exec "$python" -m fuzzy_vessel run "$@"
