"""The field as a convolution with the force of one charge, by Fourier transforms.

`transforms` defines the steps, `cpu_transforms` and `cuda_transforms` do them; `cuda_lines` is the
part along K on CUDA. `kernel_spectra` transforms the force of one charge, `fft_padding` chooses
the padded sizes.
"""
