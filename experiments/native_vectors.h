// Vectors of LANES numbers, exp, gelu and tanh on them, and the one matrix product, for native_step.cpp.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

typedef REAL Real;
typedef std::int64_t Index;
#if defined(__AVX512F__)
constexpr Index BYTES = 64, TILE = 4;
#elif defined(__AVX__)
constexpr Index BYTES = 32, TILE = 2;
#else
constexpr Index BYTES = 16, TILE = 2;
#endif
constexpr Index LANES = BYTES / sizeof(Real), ROWS = 4;  // ROWS x TILE vectors are summed in registers
constexpr Index CHUNK = 16;  // tokens whose hidden units are held at a time
typedef Real Vector __attribute__((vector_size(BYTES)));
typedef Real Half __attribute__((vector_size(BYTES / 2)));
typedef std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t> Integer;
typedef Integer Integers __attribute__((vector_size(BYTES)));

#define INLINE inline __attribute__((always_inline))

// ---- vectors ----------------------------------------------------------------------------------------------------

static INLINE Vector spread(Real value) { return Vector{} + value; }

static INLINE Index vectors(Index reals) { return (reals + LANES - 1) / LANES; }

static INLINE Real total(Vector value) {
    Half halves[2];
    std::memcpy(halves, &value, BYTES);
    const Half sum = halves[0] + halves[1];
    Real result = 0;
    for (int lane = 0; lane < LANES / 2; ++lane) result += sum[lane];
    return result;
}

static INLINE Vector load(const Real* from, Index count) {
    Vector value = {};
    if (count >= LANES) std::memcpy(&value, from, BYTES);
    else std::memcpy(&value, from, count * sizeof(Real));
    return value;
}

static INLINE void store(Real* to, Vector value, Index count) {
    std::memcpy(to, &value, count >= LANES ? BYTES : count * sizeof(Real));
}

// The lanes of a and b, numbered in a row, that `places` names.
template <Index... places>
static INLINE Vector pick(Vector a, Vector b, std::integer_sequence<Index, places...>) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, int(places)...);
#else
    return __builtin_shuffle(a, b, Integers{Integer(places)...});
#endif
}

// One stage of a transposition: the off-diagonal squares of size `step` change places.
template <Index step, Index... lane>
static INLINE void exchange(Vector* rows, std::integer_sequence<Index, lane...>) {
#pragma GCC unroll 16
    for (Index row = 0; row < LANES; ++row) {
        if (row & step) continue;
        const Vector a = rows[row], b = rows[row + step];
        rows[row] = pick(a, b, std::integer_sequence<Index, (lane & step ? LANES + lane - step : lane)...>());
        rows[row + step] = pick(a, b, std::integer_sequence<Index, (lane & step ? LANES + lane : lane + step)...>());
    }
}

template <Index step = LANES / 2>
static INLINE void transpose(Vector* rows) {
    exchange<step>(rows, std::make_integer_sequence<Index, LANES>());
    if constexpr (step > 1) transpose<step / 2>(rows);
}

// exp x for x <= 0, relative error a few roundings; below the least normal number it stays there.
// x = k log 2 + r, |r| <= log(2)/2: the Taylor remainder is r^8/8! < 6e-9 in float, r^14/14! < 5e-18 in double.
static INLINE Vector exponential(Vector x) {
    constexpr bool narrow = sizeof(Real) == 4;
    constexpr Real least = narrow ? -87 : -708, round_off = narrow ? 12582912.0 : 6755399441055744.0;
    constexpr Real log2_high = narrow ? 0.693359375 : 6.93145751953125e-1;
    constexpr Real log2_low = narrow ? -2.12194440e-4 : 1.42860682030941723212e-6;
    const Vector bounded = x > least ? x : spread(least);
    const Vector k = (bounded * Real(1.4426950408889634074) + round_off) - round_off;
    const Vector r = (bounded - k * log2_high) - k * log2_low;
    Vector sum = spread(1);
#pragma GCC unroll 16
    for (int degree = narrow ? 7 : 13; degree > 0; --degree) sum = sum * r * (Real(1) / degree) + Real(1);
    const Integers exponent = (__builtin_convertvector(k, Integers) + (narrow ? 127 : 1023)) << (narrow ? 23 : 52);
    Vector power;
    std::memcpy(&power, &exponent, BYTES);
    return sum * power;
}

// gelu(x) = x Phi(x) and its slope Phi(x) + x phi(x). With t = 1/(1 + |x|/4), Phi(-|x|) = exp(-x^2/2) t P(t) where P
// interpolates at Chebyshev nodes, |x| <= 10: relative error 4e-8 (degree 8, float), 2e-16 (degree 18, double).
static INLINE void gelu(Vector x, Vector& value, Vector& slope) {
    static constexpr double narrow[] = {
        0.0998837633, 0.0971947929, 0.112347888, 0.00188137937, 0.269817093,
        -0.298672967, 0.37331018, -0.188566245, 0.0328041126};
    static constexpr double wide[] = {
        0.09973564969118665437, 0.09973277774241550092, 0.0935478266096648566, 0.0805709107308283394,
        0.06677489848995772576, 0.02627009185524221545, 0.09051025133877834077, -0.1990653871190235855,
        0.4948009109044060042, -0.9529172039702111705, 1.403938503577742176, -1.62060862330098685,
        1.402978639413205275, -0.8666146313476211433, 0.3612709901682468854, -0.09101947591515290275,
        0.009207020150601241265, 0.001199353084118870705, -0.0003125021033984542502};
    const Vector size = x < 0 ? -x : x;
    const Vector bell = exponential(Real(-0.5) * x * x), t = Real(1) / (Real(1) + Real(0.25) * size);
    Vector sum = {};
    if (sizeof(Real) == 4) {
#pragma GCC unroll 32
        for (int k = sizeof narrow / sizeof *narrow; k-- > 0;) sum = sum * t + Real(narrow[k]);
    } else {
#pragma GCC unroll 32
        for (int k = sizeof wide / sizeof *wide; k-- > 0;) sum = sum * t + Real(wide[k]);
    }
    const Vector tail = bell * t * sum, below = x < 0 ? tail : Real(1) - tail;
    value = x * below;
    slope = below + x * bell * Real(0.39894228040143267794);
}

static INLINE void hyperbolic_tangent(Vector x, Vector& value, Vector& slope) {
    const Vector size = x < 0 ? -x : x;
    const Vector e = exponential(Real(-2) * size);
    const Vector above = (Real(1) - e) / (Real(1) + e);
    value = x < 0 ? -above : above;
    slope = Real(1) - value * value;
}

// ---- the one matrix product ---------------------------------------------------------------------------------------

template <class Left, int R, int C, class Put>
static INLINE void tile(const Left* a, Index a_row, Index a_deep, const Vector* b, Index b_deep, Index b_col,
                        Index depth, Index row, Index col, Put put) {
    Vector sum[R][C] = {};
    a += row * a_row;
    b += col * b_col;
    for (Index k = 0; k < depth; ++k, a += a_deep, b += b_deep)
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
            for (int c = 0; c < C; ++c) sum[r][c] += a[r * a_row] * b[c * b_col];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) put(row + r, col + c, sum[r][c]);
}

// Not inlined: in a function of its own the compiler keeps all sums in registers (14 % of a step at T = 128).
// put(r, c, sum_k a[r, k] b[k, c]); b holds vectors, a holds vectors (products lane by lane) or numbers.
template <class Left, class Put>
static __attribute__((noinline)) void product(Index rows, Index cols, Index depth, const Left* a, Index a_row,
                                              Index a_deep, const Vector* b, Index b_deep, Index b_col, Put put) {
    Index row = 0;
    for (; row + ROWS <= rows; row += ROWS) {
        Index col = 0;
        for (; col + TILE <= cols; col += TILE)
            tile<Left, ROWS, TILE>(a, a_row, a_deep, b, b_deep, b_col, depth, row, col, put);
        for (; col < cols; ++col) tile<Left, ROWS, 1>(a, a_row, a_deep, b, b_deep, b_col, depth, row, col, put);
    }
    for (; row < rows; ++row) {
        Index col = 0;
        for (; col + TILE <= cols; col += TILE)
            tile<Left, 1, TILE>(a, a_row, a_deep, b, b_deep, b_col, depth, row, col, put);
        for (; col < cols; ++col) tile<Left, 1, 1>(a, a_row, a_deep, b, b_deep, b_col, depth, row, col, put);
    }
}

static INLINE Real dot(const Real* a, const Real* b, Index count) {
    Vector sum = {};
    for (Index i = 0; i < count; i += LANES) sum += load(a + i, count - i) * load(b + i, count - i);
    return total(sum);
}

static INLINE void add_multiple(Real* to, Real factor, const Real* from, Index count) {
    for (Index i = 0; i < count; ++i) to[i] += factor * from[i];
}
