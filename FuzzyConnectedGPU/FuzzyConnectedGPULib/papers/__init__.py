"""The papers' own systems: `kfoe` on the CPU and on CUDA."""
