"""What the effect computes and keeps in the scene: MRML nodes and images, no Qt."""
