// Two 16-bit or four 8-bit numbers in one 32-bit word.
#pragma once
#include <limits>
#include <type_traits>

#include "intrinsics.cuh"

namespace cuda_on_cpu {

template <class Lane, class Operation>
unsigned each_lane(unsigned a, unsigned b, Operation operation)
{
    unsigned result = 0;
    for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Lane)) {
        int lane = operation(int(Lane(a >> shift)), int(Lane(b >> shift)));
        result |= unsigned(std::make_unsigned_t<Lane>(lane)) << shift;
    }
    return result;
}

template <class Lane>
int saturate(int value)
{
    using Limits = std::numeric_limits<Lane>;
    return value < Limits::min() ? Limits::min() : value > Limits::max() ? Limits::max() : value;
}

}  // namespace cuda_on_cpu

// NAME2 and NAME4 from one expression in a and b; LANE is the type of one number.
#define CUDA_ON_CPU_WIDTH(NAME, TYPE, EXPRESSION)                                                \
    inline unsigned NAME(unsigned first, unsigned second)                                        \
    {                                                                                            \
        using Lane [[maybe_unused]] = TYPE;                                                      \
        return cuda_on_cpu::each_lane<TYPE>(                                                     \
            first, second, []([[maybe_unused]] int a, [[maybe_unused]] int b) -> int {           \
                return EXPRESSION;                                                               \
            });                                                                                  \
    }
#define CUDA_ON_CPU_UNSIGNED(NAME, EXPRESSION)                                                   \
    CUDA_ON_CPU_WIDTH(__v##NAME##2, unsigned short, EXPRESSION)                                  \
    CUDA_ON_CPU_WIDTH(__v##NAME##4, unsigned char, EXPRESSION)
#define CUDA_ON_CPU_SIGNED(NAME, EXPRESSION)                                                     \
    CUDA_ON_CPU_WIDTH(__v##NAME##2, short, EXPRESSION)                                           \
    CUDA_ON_CPU_WIDTH(__v##NAME##4, signed char, EXPRESSION)
// Comparisons: cmp gives all bits of a lane, set gives 1.
#define CUDA_ON_CPU_COMPARISON(KIND, NAME, OPERATOR)                                             \
    CUDA_ON_CPU_##KIND(cmp##NAME, a OPERATOR b ? -1 : 0)                                         \
    CUDA_ON_CPU_##KIND(set##NAME, a OPERATOR b)

CUDA_ON_CPU_UNSIGNED(add, a + b)
CUDA_ON_CPU_UNSIGNED(sub, a - b)
CUDA_ON_CPU_UNSIGNED(addus, cuda_on_cpu::saturate<Lane>(a + b))
CUDA_ON_CPU_UNSIGNED(subus, cuda_on_cpu::saturate<Lane>(a - b))
CUDA_ON_CPU_SIGNED(addss, cuda_on_cpu::saturate<Lane>(a + b))
CUDA_ON_CPU_SIGNED(subss, cuda_on_cpu::saturate<Lane>(a - b))
CUDA_ON_CPU_UNSIGNED(minu, a < b ? a : b)
CUDA_ON_CPU_UNSIGNED(maxu, a < b ? b : a)
CUDA_ON_CPU_SIGNED(mins, a < b ? a : b)
CUDA_ON_CPU_SIGNED(maxs, a < b ? b : a)
CUDA_ON_CPU_UNSIGNED(absdiffu, a < b ? b - a : a - b)
CUDA_ON_CPU_SIGNED(absdiffs, a < b ? b - a : a - b)
CUDA_ON_CPU_UNSIGNED(avgu, (a + b + 1) >> 1)
CUDA_ON_CPU_UNSIGNED(haddu, (a + b) >> 1)
CUDA_ON_CPU_COMPARISON(UNSIGNED, eq, ==)
CUDA_ON_CPU_COMPARISON(UNSIGNED, ne, !=)
CUDA_ON_CPU_COMPARISON(UNSIGNED, gtu, >)
CUDA_ON_CPU_COMPARISON(UNSIGNED, geu, >=)
CUDA_ON_CPU_COMPARISON(UNSIGNED, ltu, <)
CUDA_ON_CPU_COMPARISON(UNSIGNED, leu, <=)
CUDA_ON_CPU_COMPARISON(SIGNED, gts, >)
CUDA_ON_CPU_COMPARISON(SIGNED, ges, >=)
CUDA_ON_CPU_COMPARISON(SIGNED, lts, <)
CUDA_ON_CPU_COMPARISON(SIGNED, les, <=)

inline unsigned __vabs2(unsigned v) { return __vabsdiffs2(v, 0); }
inline unsigned __vabs4(unsigned v) { return __vabsdiffs4(v, 0); }
inline unsigned __vneg2(unsigned v) { return __vsub2(0, v); }
inline unsigned __vneg4(unsigned v) { return __vsub4(0, v); }

// Minimum and maximum of three numbers (hardware from sm_90 on, a few instructions before).
#define CUDA_ON_CPU_THREE(NAME, OPERATION, TYPE)                                                 \
    inline TYPE NAME(TYPE a, TYPE b, TYPE c) { return OPERATION(OPERATION(a, b), c); }
CUDA_ON_CPU_THREE(__vimax3_s32, max, int)
CUDA_ON_CPU_THREE(__vimin3_s32, min, int)
CUDA_ON_CPU_THREE(__vimax3_u32, max, unsigned)
CUDA_ON_CPU_THREE(__vimin3_u32, min, unsigned)
CUDA_ON_CPU_THREE(__vimax3_s16x2, __vmaxs2, unsigned)
CUDA_ON_CPU_THREE(__vimin3_s16x2, __vmins2, unsigned)
CUDA_ON_CPU_THREE(__vimax3_u16x2, __vmaxu2, unsigned)
CUDA_ON_CPU_THREE(__vimin3_u16x2, __vminu2, unsigned)
