"""The CUDA device: kernels compiled by NVRTC, transfers and Fourier transforms."""
