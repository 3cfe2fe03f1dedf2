// Simple points: voxels whose removal does not change the topology of an object; as in simple_points.py.
#pragma once

typedef unsigned int u32;

// Voxels of a block of 27 as bits 9 k + 3 j + i.
const u32 FACES = 0x415410, NEIGHBOURS_18 = 0x2ebdeba;
const u32 NOT_FIRST_K = 0x7fffe00, NOT_FIRST_J = 0x7e3f1f8, NOT_FIRST_I = 0x6db6db6;
const u32 NOT_LAST_K = 0x3ffff, NOT_LAST_J = 0xfc7e3f, NOT_LAST_I = 0x36db6db;

__device__ u32 dilated_26(u32 bits)
{
    bits |= (bits & NOT_LAST_I) << 1 | (bits & NOT_FIRST_I) >> 1;
    bits |= (bits & NOT_LAST_J) << 3 | (bits & NOT_FIRST_J) >> 3;
    return bits | (bits & NOT_LAST_K) << 9 | (bits & NOT_FIRST_K) >> 9;
}

__device__ u32 dilated_6(u32 bits)
{
    return bits | (bits & NOT_LAST_I) << 1 | (bits & NOT_FIRST_I) >> 1 | (bits & NOT_LAST_J) << 3 |
           (bits & NOT_FIRST_J) >> 3 | (bits & NOT_LAST_K) << 9 | (bits & NOT_FIRST_K) >> 9;
}

// Whether a voxel with these neighbours in the object is a (26,6)-simple point (Bertrand and Malandain
// 1994); bit 13, the voxel itself, is 0.
__device__ bool is_simple(u32 bits)
{
    u32 faces = FACES & ~bits;
    if (faces == 0 || bits == 0) return false;
    u32 grown = bits & (~bits + 1), before = 0;
    while (grown != before) {
        before = grown;
        grown = dilated_26(grown) & bits;
    }
    if (grown != bits) return false;
    u32 background = NEIGHBOURS_18 & ~bits;
    grown = faces & (~faces + 1);
    before = 0;
    while (grown != before) {
        before = grown;
        grown = dilated_6(grown) & background;
    }
    return (faces & ~grown) == 0;
}

// Which of the 26 neighbours of a voxel have a state other than 0, as bits.
__device__ u32 neighbour_bits(const unsigned char* states, int voxel, int row, int plane)
{
    u32 bits = 0;
    for (int line = 0; line < 9; line++) {
        const unsigned char* middle = states + voxel + (line / 3 - 1) * plane + (line % 3 - 1) * row;
        bits |= (u32)(middle[-1] != 0) << 3 * line | (u32)(middle[0] != 0) << (3 * line + 1) |
                (u32)(middle[1] != 0) << (3 * line + 2);
    }
    return bits & ~(1u << 13);
}
