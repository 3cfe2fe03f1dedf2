"""The systems that the CUDA-kFOE papers compare, to be read beside the papers.

`kfoe` is the serial program (papers, section 1.3), `cuda_kfoe` Zhuge's two kernels with stored
affinities, and `cuda_kfoe.solve_corrected` the papers' own: one fused kernel, a look-up table, and
correction iterations in 0 to 6 directions. The two on CUDA write without atomic maxima, so that
updates are lost; `error_voxels` counts what is wrong in the end, as the papers' tables do.
"""
