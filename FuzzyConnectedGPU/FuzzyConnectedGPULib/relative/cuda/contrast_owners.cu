// Owners by the weakest voxel of a path, over 26 neighbours: levels of a contrast, and disputed voxels.
//
// Disputed voxels are few, so they are listed, and each step looks at all of them. Owners only ever rise
// (nobody < a group < several) towards the one least solution: the order of the threads cannot change it.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

#define NOBODY 0
#define DISPUTED 255
#define SIDES 27  // the 14th is the voxel itself

// A box of a volume: its shape, and the volume's flat index of its first voxel, of a row and of a plane.
struct Box
{
    int nk, nj, ni;
    u32 corner, row, plane;

    __device__ u32 count() const { return (u32)nk * nj * ni; }

    // Number of the neighbour on a side; the voxel itself where that lies outside.
    __device__ u32 neighbour(u32 n, int side) const
    {
        int k = n / ni / nj + side / 9 - 1, j = n / ni % nj + side / 3 % 3 - 1, i = n % ni + side % 3 - 1;
        bool inside = k >= 0 && j >= 0 && i >= 0 && k < nk && j < nj && i < ni;
        return inside ? ((u32)k * nj + j) * ni + i : n;
    }
};

__device__ __forceinline__ u32 joined(u32 one, u32 other)
{
    if (one == NOBODY || one == other) return other;
    return other == NOBODY ? one : DISPUTED;
}

// Levels of the box in steps of the noise; 0 where no path may go. The arithmetic is the CPU's, in float32.
extern "C" __global__ void __launch_bounds__(256) find_levels(
    const float* contrast, const u8* reached, Box box, float noise, float steps, u16* levels)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= box.count()) return;
    u32 k = n / box.ni / box.nj, j = n / box.ni % box.nj, i = n % box.ni;
    float level = floorf(contrast[box.corner + k * box.plane + j * box.row + i] / noise * steps);
    levels[n] = reached[n] ? (u16)fminf(fmaxf(level, 0.f), 65535.f) : 0;
}

// A point is above every path.
extern "C" __global__ void __launch_bounds__(256) raise_points(const long long* points, u32 count, int top, u16* levels)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) levels[points[n]] = top;
}

// List the disputed voxels that have room; counted: how many there are, 0 so far.
extern "C" __global__ void __launch_bounds__(256) list_disputed(const u8* owners, u32 count, u32 room, u32* counted, u32* listed)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count || owners[n] != DISPUTED) return;
    u32 place = atomicAdd(counted, 1u);
    if (place < room) listed[place] = n;
}

// The sides from which optimal edges lead to each listed voxel. levels: of the best group.
extern "C" __global__ void __launch_bounds__(256) find_optimal_edges(
    const u32* listed, u32 count, const u16* capacities, const u16* levels, Box box, u32* edges)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u32 voxel = listed[n], sides = 0;
    for (int side = 0; side < SIDES; side++) {
        u32 other = box.neighbour(voxel, side);
        if (other != voxel && min(levels[other], capacities[other]) >= levels[voxel]) sides |= 1u << side;
    }
    edges[n] = sides;
}

// What optimal edges bring to each listed voxel; changed: whether anything.
extern "C" __global__ void __launch_bounds__(256) step_along_edges(
    const u32* listed, u32 count, const u32* edges, Box box, const u8* owners, u8* found, int* changed)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    u32 voxel = listed[n], before = *(volatile u8*)(found + voxel), owner = before;
    for (int side = 0; side < SIDES; side++) {
        if (!(edges[n] >> side & 1)) continue;
        u32 other = box.neighbour(voxel, side), its = owners[other];
        // Another thread may be changing it at this moment: either value will do.
        if (its == DISPUTED) its = *(volatile u8*)(found + other);
        owner = joined(owner, its);
    }
    if (owner == before) return;
    *(volatile u8*)(found + voxel) = owner;
    *changed = 1;
}

// Owners of the listed voxels are those that were found.
extern "C" __global__ void __launch_bounds__(256) take_found_owners(const u32* listed, u32 count, const u8* found, u8* owners)
{
    u32 n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) owners[listed[n]] = found[listed[n]];
}
