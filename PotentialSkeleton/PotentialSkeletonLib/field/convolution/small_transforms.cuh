// Fourier transforms of 2 to 16 complex numbers by one thread.
#pragma once

__device__ inline double2 sum(double2 a, double2 b) { return make_double2(a.x + b.x, a.y + b.y); }

__device__ inline double2 difference(double2 a, double2 b)
{
    return make_double2(a.x - b.x, a.y - b.y);
}

__device__ inline double2 product(double2 a, double2 b)
{
    return make_double2(__fma_rn(a.x, b.x, -a.y * b.y), __fma_rn(a.x, b.y, a.y * b.x));
}

// Times -i.
__device__ inline double2 turned(double2 a) { return make_double2(a.y, -a.x); }

__device__ inline void transform(double2& a, double2& b)
{
    double2 first = a;
    a = sum(first, b);
    b = difference(first, b);
}

__device__ inline void transform(double2& a, double2& b, double2& c, double2& d)
{
    transform(a, c);
    transform(b, d);
    d = turned(d);
    transform(a, b);
    transform(c, d);
    double2 second = c;
    c = b;
    b = second;
}

// Times exp(-2 pi i n / 16); n is known when this is compiled.
__device__ inline double2 turned_by(double2 a, int n)
{
    const double COS_1 = 0.92387953251128675613, SIN_1 = 0.38268343236508977173;
    const double COS_2 = 0.70710678118654752440;
    switch (n) {
    case 0: return a;
    case 1: return product(a, make_double2(COS_1, -SIN_1));
    case 2: return make_double2((a.x + a.y) * COS_2, (a.y - a.x) * COS_2);
    case 3: return product(a, make_double2(SIN_1, -COS_1));
    case 4: return turned(a);
    case 6: return make_double2((a.y - a.x) * COS_2, -(a.x + a.y) * COS_2);
    default: return product(a, make_double2(-COS_1, SIN_1));  // 9
    }
}

// 16 numbers, or 8, 4, 2 or 1 from `numbers` on.
template <int COUNT>
__device__ inline void transform(double2* numbers)
{
    if constexpr (COUNT == 16) {
        double2 sorted[16];
#pragma unroll
        for (int n = 0; n < 4; n++)
            transform(numbers[n], numbers[n + 4], numbers[n + 8], numbers[n + 12]);
#pragma unroll
        for (int n = 0; n < 4; n++) {
            double2* row = numbers + 4 * n;
            transform(row[0], row[1] = turned_by(row[1], n), row[2] = turned_by(row[2], 2 * n),
                      row[3] = turned_by(row[3], 3 * n));
#pragma unroll
            for (int m = 0; m < 4; m++)
                sorted[n + 4 * m] = row[m];
        }
#pragma unroll
        for (int n = 0; n < 16; n++)
            numbers[n] = sorted[n];
    } else if constexpr (COUNT == 8) {
        double2 even[4], odd[4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            even[n] = numbers[2 * n];
            odd[n] = numbers[2 * n + 1];
        }
        transform<4>(even);
        transform<4>(odd);
#pragma unroll
        for (int n = 0; n < 4; n++) {
            double2 turned_odd = turned_by(odd[n], 2 * n);
            numbers[n] = sum(even[n], turned_odd);
            numbers[n + 4] = difference(even[n], turned_odd);
        }
    } else if constexpr (COUNT == 4)
        transform(numbers[0], numbers[1], numbers[2], numbers[3]);
    else if constexpr (COUNT == 2)
        transform(numbers[0], numbers[1]);
}
