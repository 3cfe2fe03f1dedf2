#!/usr/bin/env bash
# Makes or renews the environment NAME (demo, browser or test) in .venv/NAME and prints its Python.
# Everything is pinned in requirements/NAME.txt; a finished environment is used again as it is.
set -euo pipefail
name=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
place="$root/.venv/$name"

fail() {
    echo "$*" >&2
    exit 1
}

base=${PYTHON:-python3}
command -v "$base" >/dev/null || fail "Python is missing: install Python 3.11 or newer (Debian: apt-get install python3 python3-venv)."
"$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$base" --version) is too old: 3.11 or newer is needed (name another one with PYTHON=/path/to/python3)."
"$base" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "Python's venv module is missing (Debian: apt-get install python3-venv)."

# The lines of a file of packages, and of those that it names.
requirements() {
    local line
    while IFS= read -r line; do
        case $line in
            "-r "*) requirements "${line#-r }" ;;
            "#"* | "") ;;
            *) echo "$line" ;;
        esac
    done <"$root/requirements/$1"
}

# Pictures are drawn off screen through EGL; without these libraries VTK would end the process.
for library in libEGL.so.1:libegl1 libGL.so.1:libgl1; do
    "$base" -c "import ctypes; ctypes.CDLL('${library%:*}')" 2>/dev/null ||
        fail "The system library ${library%:*} is missing (Debian: apt-get install libegl1 libgl1 libgl1-mesa-dri)."
done
if [ "$name" = test ]; then
    command -v g++ >/dev/null ||
        fail "The compiler g++ is missing: the tests run the CUDA kernels on the CPU with it (Debian: apt-get install g++)."
    # Qt's, for the panels.
    for library in libxkbcommon.so.0 libdbus-1.so.3 libfontconfig.so.1 libglib-2.0.so.0; do
        "$base" -c "import ctypes; ctypes.CDLL('$library')" 2>/dev/null ||
            fail "The system library $library is missing (Debian: apt-get install libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0)."
    done
fi

# The packages of an NVIDIA card are chosen by the CUDA version of its driver.
card=
if [ "$name" != test ] && version=$(nvidia-smi 2>/dev/null | grep -o 'CUDA Version: [0-9]*'); then
    case "${version##* }" in
        12) card="cupy-cuda12x[ctk]==14.2.0 cuda-core==1.2.2 cuda-bindings==12.*" ;;
        *) card="cupy-cuda13x[ctk]==14.2.0 cuda-core==1.2.2 cuda-bindings==13.*" ;;
    esac
fi

stamp=$(cat "$root"/requirements/*.txt | cksum; "$base" --version; echo "$root $card")
if [ "$(cat "$place/stamp" 2>/dev/null)" != "$stamp" ]; then
    echo "Making the environment $place ..." >&2
    rm -rf "$place"
    "$base" -m venv "$place"
    # In four parts, two at a time, as pip uses one core; Python compiles what it needs of them.
    requirements "$name.txt" | awk -v part="$place/part" '{print >(part NR % 4)}'
    printf '%s\0' "$place"/part? | xargs -0 -P 2 -n 1 "$place/bin/python" -m pip install --quiet \
        --disable-pip-version-check --no-compile --no-deps -r >&2 ||
        fail "pip could not install requirements/$name.txt (see above)."
    if [ -n "$card" ]; then
        "$place/bin/python" -m pip install --quiet --disable-pip-version-check $card >&2 ||
            echo "CuPy could not be installed; the CPU is used." >&2
    fi
    site=$("$place/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    for package in FuzzyVesselCore FuzzyConnectedGPU PotentialSkeleton CommandLine Napari Browser; do
        echo "$root/$package"
    done >"$site/fuzzy_vessel_gpu.pth"
    echo "$stamp" >"$place/stamp"
fi
echo "$place/bin/python"
