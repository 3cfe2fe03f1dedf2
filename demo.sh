#!/usr/bin/env bash
# Segments vessels from seeds: without arguments the built-in liver phantom, with arguments a file
# (the same arguments as `fuzzy-vessel segment`; see README.md).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(bash "$root/requirements/environment.sh" demo)
if [ $# -eq 0 ]; then
    exec "$python" -m FuzzyVesselCommand demo --out "$PWD/demo-output"
fi
exec "$python" -m FuzzyVesselCommand segment "$@"
