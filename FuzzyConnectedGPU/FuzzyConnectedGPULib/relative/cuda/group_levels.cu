// From the levels of one group after the other to the owners of the voxels.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

#define NOBODY 0
#define DISPUTED 255

// Take in one more group's levels. best, owners: of the best group so far; other: of the best other one.
extern "C" __global__ void join_group(const u16* levels, int group, u32 count, u16* best, u16* other, u8* owners)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u16 level = levels[n], most = best[n];
    if (level > most) {
        other[n] = most;
        best[n] = level;
        owners[n] = group;
    } else if (level > other[n]) {
        other[n] = level;
    }
}

// Voxels in which two groups are equally strong are disputed.
extern "C" __global__ void find_disputed(const u16* best, const u16* other, u32 count, u8* owners)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count && best[n] == other[n]) owners[n] = best[n] ? DISPUTED : NOBODY;
}

// A point belongs to its group.
extern "C" __global__ void own_points(const long long* points, const u8* groups, u32 count, u8* owners)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) owners[points[n]] = groups[n];
}
