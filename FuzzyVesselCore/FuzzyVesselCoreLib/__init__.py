"""What both modules of FuzzyVesselGPU need: errors, the CUDA device, geometry, the phantom."""
