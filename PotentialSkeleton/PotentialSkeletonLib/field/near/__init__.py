"""The near part of the field on the CPU, summed directly so that the rest of the kernel is smooth.

`kernel_split` divides the kernel, `near_pairs` sums, and `near_part` takes it to the convolution.
"""
