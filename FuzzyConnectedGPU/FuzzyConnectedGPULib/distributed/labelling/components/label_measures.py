"""Sizes and bounding boxes of labels; compiled."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled

BLOCK = 32


@compiled
def count_labels(labels: np.ndarray, counts: np.ndarray) -> None:
    """Add the number of voxels of each label, from 0 on, to the counts; labels (n,)."""
    i = 0
    while i < labels.size:
        if i + BLOCK <= labels.size:
            union = np.int32(0)
            for n in range(BLOCK):
                union |= labels[i + n]
            if union == 0:
                counts[0] += BLOCK
                i += BLOCK
                continue
        for n in range(i, min(i + BLOCK, labels.size)):
            counts[labels[n]] += 1
        i += BLOCK


@compiled
def find_boxes(labels: np.ndarray, boxes: np.ndarray) -> None:
    """Find the first and last voxel of each label from 1 on along each axis; boxes (n, 3, 2)."""
    depth, rows, width = labels.shape
    for n in range(len(boxes)):
        for axis in range(3):
            boxes[n, axis, 0], boxes[n, axis, 1] = labels.size, -1
    for k in range(depth):
        for j in range(rows):
            row, i = labels[k, j], 0
            while i < width:
                if i + BLOCK <= width:
                    union = row[i]
                    for n in range(BLOCK):
                        union |= row[i + n]
                    if union == 0:
                        i += BLOCK
                        continue
                for n in range(i, min(i + BLOCK, width)):
                    if row[n]:
                        box = boxes[row[n] - 1]
                        box[0, 0], box[0, 1] = min(box[0, 0], k), max(box[0, 1], k)
                        box[1, 0], box[1, 1] = min(box[1, 0], j), max(box[1, 1], j)
                        box[2, 0], box[2, 1] = min(box[2, 0], n), max(box[2, 1], n)
                i += BLOCK
