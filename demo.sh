#!/usr/bin/env bash
# From seeds to vessels and their centrelines: without arguments on the built-in liver phantom, with
# arguments on a file (the same arguments as `fuzzy-vessel run`; see README.md). With --browser as
# first argument in a browser (then the arguments are those of `fuzzy-vessel serve`).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "${1:-}" = --browser ]; then
    shift
    python=$(bash "$root/requirements/environment.sh" browser)
    exec "$python" -m fuzzy_vessel serve "$@"
fi
python=$(bash "$root/requirements/environment.sh" demo)
if [ $# -eq 0 ]; then
    exec "$python" -m fuzzy_vessel demo --out "$PWD/demo-output"
fi
exec "$python" -m fuzzy_vessel run "$@"
