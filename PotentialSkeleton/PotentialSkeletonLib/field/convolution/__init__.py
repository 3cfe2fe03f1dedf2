"""The field as a convolution with the force of one charge, by Fourier transforms."""
