// Fourier transforms of lines of 256 * LAST complex numbers, which the threads of a block share.
//
// A line's place is n = t + 16 LAST e with t = s + LAST d, its frequency k = q + 16 p with
// p = r + 16 o; e, d, q and r are from 0 to 15, s and o below LAST. The sum over n becomes one over
// e for each q, then over d for each r, then over s for each o, each of them by one thread, with
// factors of modulus 1 between; the inverse is the same in reverse, so no number is ever sorted.
// A block works on 2048 numbers, of one line or of several adjacent ones. There are never
// more than 2^27 numbers at a time.
#pragma once

#include "small_transforms.cuh"

const int THREADS = 128, LINES = 8 / LAST, SIZE = 256 * LAST;

// Where the workspace has the number of q, of d or r, and of s (or o) and the line, which are given
// as 128 q + 8 d + the rest: spread over the banks of the memory for all orders in which threads read
// or write. Of numbers without a common bit the places' exclusive or is the place.
__device__ constexpr int spread(int number)
{
    return number ^ (number >> 5 & 1) ^ (number >> 3 & 2) ^ (number >> 7 & 1) * 12;
}

struct Lines {
    double* workspace;     // 2048 numbers, for what the threads exchange
    const double2* roots;  // exp(-2 pi i n / SIZE)
    // The three distributions of the numbers over threads. By e or q: a thread has all of one t. By
    // d or r: all of one q and s. By s or o: those of one q and of 16 / LAST r.
    int by_e, by_d, by_o;

    __device__ Lines(double* workspace, const double2* roots)
        : workspace(workspace), roots(roots)
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

    // The real parts and then the imaginary ones: so the workspace is half as large.
    template <class From, class To>
    __device__ void exchange(double2* numbers, From from, To to) const
    {
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            workspace[from(n)] = numbers[n].x;
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            numbers[n].x = workspace[to(n)];
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            workspace[from(n)] = numbers[n].y;
        __syncthreads();
#pragma unroll
        for (int n = 0; n < 16; n++)
            numbers[n].y = workspace[to(n)];
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
