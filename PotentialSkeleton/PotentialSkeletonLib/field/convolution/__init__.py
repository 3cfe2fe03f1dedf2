"""The field as a convolution with the force of one charge, by Fourier transforms.

`convolution` runs it, in the steps that `transforms` defines; `cpu_transforms` and
`cuda_transforms` do them, `cuda_lines` is the part along K on CUDA. `kernel_spectra` transforms the
force of one charge, `fft_padding` chooses the padded sizes.
"""
