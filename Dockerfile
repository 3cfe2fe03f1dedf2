# The command line, the page in the browser, and the CLI modules, for servers and slicer_cli_web.
#   docker build -t fuzzy-vessel .                                   CPU
#   docker build --build-arg CUDA=cuda13 -t fuzzy-vessel:cuda .      NVIDIA GPU, driver 580 or newer
#   docker build --build-arg CUDA=cuda12 -t fuzzy-vessel:cuda .      NVIDIA GPU, older driver
#   docker run --rm --user "$(id -u)" -v "$PWD:/data" fuzzy-vessel segment ct.nrrd --seed 265,206,70 --out vessels
#   docker run --rm --user "$(id -u)" --gpus all -v "$PWD:/data" fuzzy-vessel:cuda run ct.nrrd ...
#   docker run --rm -p 127.0.0.1:8080:8080 -v "$PWD:/data" fuzzy-vessel serve ct.nrrd --host 0.0.0.0 --port 8080 --no-open
ARG PYTHON=3.12
FROM python:${PYTHON}-slim

# Pictures are drawn off screen through EGL.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libegl1 libgl1 libgl1-mesa-dri \
    && rm -rf /var/lib/apt/lists/*

# cuda12 or cuda13: CuPy with CUDA's libraries; the driver comes from the host.
ARG CUDA=
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility

WORKDIR /src
COPY pyproject.toml README.md LICENSE.txt ./
COPY FuzzyVesselCore FuzzyVesselCore
COPY FuzzyConnectedGPU FuzzyConnectedGPU
COPY PotentialSkeleton PotentialSkeleton
COPY CommandLine CommandLine
COPY Napari Napari
COPY Browser Browser
RUN pip install --no-cache-dir ".[mrml,browser,zarr,tiff${CUDA:+,$CUDA}]"

# Any user may run it: compiled code is kept where all can write.
ENV NUMBA_CACHE_DIR=/tmp/numba CUPY_CACHE_DIR=/tmp/cupy MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /data
ENTRYPOINT ["python", "-m", "fuzzy_vessel.slicer_cli"]
