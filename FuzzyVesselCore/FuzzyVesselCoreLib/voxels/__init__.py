"""Operations on voxel volumes that both modules need; CPU and CUDA side by side."""
