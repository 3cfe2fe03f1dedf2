// Fourier transforms of lines of 256 * LAST complex numbers, which the threads of a block share.
//
// A line's place is n = t + 16 LAST e with t = s + LAST d, its frequency k = q + 16 p with
// p = r + 16 o; e, d, q and r are from 0 to 15, s and o below LAST. The sum over n becomes one over
// e for each q, then over d for each r, then over s for each o, each of them by one thread, with
// factors of modulus 1 between; the way back is the same in reverse, so no number is ever sorted.
// A block works on 2048 numbers, of one line or of several that lie side by side. There are never
// more than 2^27 numbers at a time.
#pragma once

const int THREADS = 128, LINES = 8 / LAST, SIZE = 256 * LAST;

// ---- transforms of a few numbers by one thread

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

// ---- lines, which many threads share

// Where the room has the number of q, of d or r, and of s (or o) and the line, which are given as
// 128 q + 8 d + the rest: spread over the banks of the memory for all orders in which threads read
// or write. Of numbers without a common bit the places' exclusive or is the place.
__device__ constexpr int spread(int number)
{
    return number ^ (number >> 5 & 1) ^ (number >> 3 & 2) ^ (number >> 7 & 1) * 12;
}

struct Lines {
    double* room;          // 2048 numbers, for what the threads exchange
    const double2* roots;  // exp(-2 pi i n / SIZE)
    // The three ways in which threads share the numbers. By e or q: a thread has all of one t. By d
    // or r: all of one q and s. By s or o: those of one q and of 16 / LAST r.
    int by_e, by_d, by_o;

    __device__ Lines(double* room, const double2* roots) : room(room), roots(roots)
    {
        int high = threadIdx.x >> 3, low = threadIdx.x & 7;
        by_e = spread(8 * high + low);
        by_d = spread(128 * high + low);
        by_o = spread(128 * high + 8 * (low / LINES) + low % LINES);
    }

    __device__ int t() const { return threadIdx.x / LINES; }
    __device__ int s() const { return (threadIdx.x & 7) / LINES; }
    __device__ int along_e(int n) const { return by_e ^ spread(128 * n); }
    __device__ int along_d(int n) const { return by_d ^ spread(8 * n); }
    __device__ int along_o(int n) const
    {
        return by_o ^ spread(8 * LAST * (n / LAST) + LINES * (n % LAST));
    }

    // The frequency of a number that is shared by o.
    __device__ int frequency(int n) const
    {
        return (threadIdx.x >> 3) + 16 * (s() + LAST * (n / LAST) + 16 * (n % LAST));
    }

    // Whether it is from SIZE / 2 up; there, where positive and negative meet, both are the same.
    static __device__ bool is_negative(int n)
    {
        return LAST == 1 ? n >= 8 : n % LAST >= LAST / 2;
    }

    // The real parts and then the imaginary ones: so the room is half as large.
    template <class From, class To>
    __device__ void exchange(double2* numbers, From from, To to) const
    {
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            room[from(n)] = numbers[n].x;
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            numbers[n].x = room[to(n)];
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            room[from(n)] = numbers[n].y;
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            numbers[n].y = room[to(n)];
    }

    // Each number n times a root to the power of n, by the bits of n.
    __device__ void turn(double2* numbers, int root) const
    {
#pragma unroll
        for (int bit = 1; bit < 16; bit *= 2) {
            double2 power = roots[bit * root & (SIZE - 1)];
#pragma unroll
            for (int n = 0; n < 16; n++)
                if (n & bit)
                    numbers[n] = product(numbers[n], power);
        }
    }

    __device__ void each_last(double2* numbers) const
    {
#pragma unroll
        for (int n = 0; n < 16; n += LAST)
            transform<LAST>(numbers + n);
    }

    // From along e to along o.
    __device__ void forward(double2* numbers) const
    {
        auto e = [this](int n) { return along_e(n); };
        auto d = [this](int n) { return along_d(n); };
        auto o = [this](int n) { return along_o(n); };
        transform<16>(numbers);
        turn(numbers, t());
        exchange(numbers, e, d);
        transform<16>(numbers);
        if (LAST > 1) {
            turn(numbers, 16 * s());
            exchange(numbers, d, o);
            each_last(numbers);
        }
    }

    // From along o to along e: the same in reverse.
    __device__ void backward(double2* numbers) const
    {
        auto e = [this](int n) { return along_e(n); };
        auto d = [this](int n) { return along_d(n); };
        auto o = [this](int n) { return along_o(n); };
        if (LAST > 1) {
            each_last(numbers);
            exchange(numbers, o, d);
            turn(numbers, 16 * s());
        }
        transform<16>(numbers);
        exchange(numbers, d, e);
        turn(numbers, t());
        transform<16>(numbers);
    }
};
