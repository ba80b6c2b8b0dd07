// One optimiser step of the synthetic block for one model: forward, backward and Adam, on one core.
//
// Same algebra as experiments/models.py (`forward`): the query is folded into one direction u_i per head in the space
// of the encoder's hidden units, units are pooled before they are mapped, the output projection is folded into the
// read-out; gradients go back to the raw parameters. A vector's lanes are sequences of the batch. Nothing of length T
// is kept but tokens and scores: the backward pass recomputes the hidden units, a few tokens at a time, in the first
// level cache. Every matrix product is `product` in native_vectors.h. Compile with -DREAL=float or -DREAL=double.

#include "native_vectors.h"

#include <cstdlib>
#include <new>

// ---- sizes, parameters, memory ----------------------------------------------------------------------------------

struct Sizes {
    Index dim, length, heads, head, hidden, outputs, activation;  // activation: 0 relu, 1 gelu, 2 tanh
    Index width() const { return heads * head; }
};

// Views into one flat row, in the order of `parameter_shapes`.
template <class P>
struct Parameters {
    P *in, *in_bias, *out, *out_bias, *token, *query, *query_bias, *key, *key_bias, *value, *value_bias, *mix,
        *mix_bias, *read, *read_bias, *last, *last_bias;

    Parameters(P* at, const Sizes& s) {
        const Index n = s.hidden, e = s.width();
        auto take = [&at](Index count) { P* here = at; at += count; return here; };
        in = take(n * s.dim), in_bias = take(n), out = take(e * n), out_bias = take(e), token = take(e);
        query = take(e * e), query_bias = take(e), key = take(e * e), key_bias = take(e);
        value = take(e * e), value_bias = take(e), mix = take(e * e), mix_bias = take(e);
        read = take(n * e), read_bias = take(n), last = take(s.outputs * n), last_bias = take(s.outputs);
    }
};

// All buffers of a step in one aligned block; made twice, once to count and once to place.
struct Memory {
    char* base;
    Index used = 0;
    Vector* take(Index count) {
        Vector* here = base ? reinterpret_cast<Vector*>(base + used) : nullptr;
        used += count * BYTES;
        return here;
    }
    Real* reals(Index rows, Index reals) { return reinterpret_cast<Real*>(take(rows * vectors(reals))); }
};

// Suffix _v: rows padded to whole vectors, so that a row is both numbers and vectors.
struct Buffers {
    Real *in, *out_v, *out_t, *mix_v, *mix_t, *query, *asked_v, *direction_v, *fold_v, *read_v, *constant, *before;
    Real *d_direction_v, *d_asked_v, *d_fold_v, *d_read_v, *d_before, *d_after, *d_query;
    Vector *tokens, *powers, *shift, *most, *scale, *pooled, *heads, *units, *slopes, *said, *target;
    Vector *z, *slope, *pool, *weights, *d_pool, *d_z, *sum_in, *sum_direction, *level, *factor;

    Buffers(Memory m, const Sizes& s, Index blocks, Index* used) {
        const Index n = s.hidden, e = s.width(), h = s.heads, d = s.dim + 1;
        in = m.reals(1, n * d), out_v = m.reals(e, n), out_t = m.reals(n, e), mix_v = m.reals(e, e);
        mix_t = m.reals(e, e), query = m.reals(1, e), asked_v = m.reals(h, e), direction_v = m.reals(h, n);
        fold_v = m.reals(e, n), read_v = m.reals(n, e), constant = m.reals(1, e), before = m.reals(1, n);
        d_direction_v = m.reals(h, n), d_asked_v = m.reals(h, e), d_fold_v = m.reals(e, n);
        d_read_v = m.reals(n, e), d_before = m.reals(1, n), d_after = m.reals(1, e), d_query = m.reals(1, e);
        tokens = m.take(blocks * s.length * d), powers = m.take(blocks * h * s.length);
        shift = m.take(blocks * h * (s.length / CHUNK + 1)), most = m.take(blocks * h), scale = m.take(blocks * h);
        pooled = m.take(h * n * blocks), heads = m.take(e * blocks), units = m.take(n * blocks);
        slopes = m.take(n * blocks), said = m.take(s.outputs * blocks), target = m.take(s.outputs * blocks);
        z = m.take(n * CHUNK), slope = m.take(n * CHUNK), pool = m.take(h * n), weights = m.take(2 * h * CHUNK);
        d_pool = m.take(2 * h * n), d_z = m.take(n * CHUNK), sum_in = m.take(n * d);
        sum_direction = m.take(h * n), level = m.take(h), factor = m.take(h);
        *used = m.used;
    }
};

class Step {
  public:
    const Sizes s;
    const Index n, e, h, d, nv, ev, batch, blocks;

    Step(const Sizes& sizes, Index batch_)
        : s(sizes), n(s.hidden), e(s.width()), h(s.heads), d(s.dim + 1), nv(vectors(n)), ev(vectors(e)),
          batch(batch_), blocks(vectors(batch_)), block(count(sizes, blocks)), b(Memory{block}, sizes, blocks, &used) {}
    ~Step() { std::free(block); }
    Step(const Step&) = delete;

    void load_batch(const Real* x, const Real* y, const Index* chosen);
    void forward(const Parameters<const Real>& p);
    void outputs(Real* to) const;
    void backward(const Parameters<const Real>& p, const Parameters<Real>& g);

  private:
    Index used;
    char* block;
    Buffers b;

    static char* count(const Sizes& s, Index blocks) {
        Index bytes;
        Buffers(Memory{nullptr}, s, blocks, &bytes);
        void* memory = std::aligned_alloc(BYTES, bytes);
        if (!memory) throw std::bad_alloc();
        std::memset(memory, 0, bytes);
        return static_cast<char*>(memory);
    }
    void fold(const Parameters<const Real>& p);
    void encode(const Vector* tokens, Index chunk);
    void pool(Index index);
    void pool_backward(Index index);
    void read(const Parameters<const Real>& p);
    void read_backward(const Parameters<const Real>& p, const Parameters<Real>& g);
    void fold_backward(const Parameters<const Real>& p, const Parameters<Real>& g);
    void ask_backward(const Parameters<const Real>& p, const Parameters<Real>& g);
    const Vector* as_vectors(const Real* rows) const { return reinterpret_cast<const Vector*>(rows); }
};

// Lanes beyond the batch repeat its last sequence; `backward` gives them error 0, and so exact zeros in every gradient.
void Step::load_batch(const Real* x, const Real* y, const Index* chosen) {
    const Index reals = s.length * s.dim;
    for (Index index = 0; index < blocks; ++index) {
        const Real* from[LANES];
        for (Index lane = 0; lane < LANES; ++lane) {
            const Index i = index * LANES + lane < batch ? index * LANES + lane : batch - 1;
            from[lane] = x + (chosen ? chosen[i] : i) * reals;
        }
        Vector* to = b.tokens + index * s.length * d;
        for (Index at = 0, j = 0; at < reals; at += LANES) {
            Vector rows[LANES];
            for (Index lane = 0; lane < LANES; ++lane) rows[lane] = load(from[lane] + at, reals - at);
            transpose(rows);
            for (Index k = 0; k < LANES && at + k < reals; ++k) {
                *to++ = rows[k];
                if (++j == s.dim) j = 0, *to++ = spread(1);
            }
        }
    }
    Real* target = reinterpret_cast<Real*>(b.target);
    for (Index i = 0; y && i < batch; ++i)
        for (Index o = 0; o < s.outputs; ++o)
            target[o * blocks * LANES + i] = y[(chosen ? chosen[i] : i) * s.outputs + o];
}

// ---- forward ------------------------------------------------------------------------------------------------------

void Step::fold(const Parameters<const Real>& p) {
    for (Index k = 0; k < n; ++k) {
        for (Index j = 0; j < s.dim; ++j) b.in[k * d + j] = p.in[k * s.dim + j];
        b.in[k * d + s.dim] = p.in_bias[k];
    }
    for (Index f = 0; f < e; ++f) {
        std::memcpy(b.out_v + f * nv * LANES, p.out + f * n, n * sizeof(Real));
        std::memcpy(b.mix_v + f * ev * LANES, p.mix + f * e, e * sizeof(Real));
        for (Index k = 0; k < n; ++k) b.out_t[k * ev * LANES + f] = p.out[f * n + k];
        for (Index k = 0; k < e; ++k) b.mix_t[k * ev * LANES + f] = p.mix[f * e + k];
        b.query[f] = p.query_bias[f] + dot(p.query + f * e, p.token, e);
        b.constant[f] = p.value_bias[f] + dot(p.value + f * e, p.out_bias, e);
    }
    const Real scale = 1 / std::sqrt(Real(s.head));
    std::memset(b.asked_v, 0, h * ev * BYTES);
    for (Index f = 0; f < e; ++f)
        add_multiple(b.asked_v + f / s.head * ev * LANES, scale * b.query[f], p.key + f * e, e);
    auto into = [](Real* rows, Index stride) {
        return [=](Index r, Index c, Vector v) { reinterpret_cast<Vector*>(rows)[r * stride + c] = v; };
    };
    const Vector* out = as_vectors(b.out_v);
    product(h, nv, e, b.asked_v, ev * LANES, 1, out, nv, 1, into(b.direction_v, nv));
    product(e, nv, e, p.value, e, 1, out, nv, 1, into(b.fold_v, nv));
    product(n, ev, e, p.read, e, 1, as_vectors(b.mix_v), ev, 1, into(b.read_v, ev));
    for (Index k = 0; k < n; ++k) b.before[k] = p.read_bias[k] + dot(p.read + k * e, p.mix_bias, e);
}

// Hidden units z[k, t] of `chunk` tokens; the slopes of the activation beside them (relu's is the sign of z).
void Step::encode(const Vector* tokens, Index chunk) {
    Vector *z = b.z, *slope = b.slope;
    auto run = [&](auto act) {
        product(n, chunk, d, b.in, d, 1, tokens, 1, d,
                [=](Index k, Index t, Vector v) { act(v, z[k * CHUNK + t], slope[k * CHUNK + t]); });
    };
    if (s.activation == 0) run([](Vector v, Vector& value, Vector&) { value = v > 0 ? v : Vector{}; });
    else if (s.activation == 1) run([](Vector v, Vector& value, Vector& slope_) { gelu(v, value, slope_); });
    else run([](Vector v, Vector& value, Vector& slope_) { hyperbolic_tangent(v, value, slope_); });
}

// pooled = sum_t softmax_t(direction . z(t)) z(t) for one block of sequences, with a running maximum. Kept for the
// backward pass: exp(score - maximum so far), that maximum chunk by chunk, the last one, and 1 / sum.
void Step::pool(Index index) {
    Vector *powers = b.powers + index * h * s.length, *shift = b.shift + index * h * (s.length / CHUNK + 1);
    Vector *scale = b.scale + index * h, *most = b.most + index * h, *pool = b.pool;
    for (Index t = 0; t < s.length; t += CHUNK, powers += h * CHUNK, shift += h) {
        const Index chunk = s.length - t < CHUNK ? s.length - t : CHUNK;
        encode(b.tokens + (index * s.length + t) * d, chunk);
        product(h, chunk, n, b.direction_v, nv * LANES, 1, b.z, CHUNK, 1,
                [=](Index i, Index c, Vector v) { powers[i * chunk + c] = v; });
        for (Index i = 0; i < h; ++i) {
            Vector* row = powers + i * chunk;
            Vector top = t ? most[i] : row[0], sum = {};
            for (Index c = 0; c < chunk; ++c) top = row[c] > top ? row[c] : top;
            for (Index c = 0; c < chunk; ++c) sum += row[c] = exponential(row[c] - top);
            if (t) {
                const Vector shrink = exponential(most[i] - top);
                sum += scale[i] * shrink;
                for (Index k = 0; k < n; ++k) pool[i * n + k] *= shrink;
            }
            shift[i] = most[i] = top, scale[i] = sum;
        }
        auto add = [&](auto put) { product(h, n, chunk, powers, chunk, 1, b.z, 1, CHUNK, put); };
        if (t) add([=, this](Index i, Index k, Vector v) { pool[i * n + k] += v; });
        else add([=, this](Index i, Index k, Vector v) { pool[i * n + k] = v; });
    }
    for (Index i = 0; i < h; ++i) {
        scale[i] = Real(1) / scale[i];
        for (Index k = 0; k < n; ++k) b.pooled[(i * n + k) * blocks + index] = pool[i * n + k] * scale[i];
    }
}

void Step::read(const Parameters<const Real>& p) {
    Vector *heads = b.heads, *units = b.units, *slopes = b.slopes, *said = b.said;
    for (Index i = 0; i < h; ++i) {
        const Index first = i * s.head;
        const Real* constant = b.constant;
        product(s.head, blocks, n, b.fold_v + first * nv * LANES, nv * LANES, 1, b.pooled + i * n * blocks, blocks, 1,
                [=, this](Index r, Index c, Vector v) { heads[(first + r) * blocks + c] = v + constant[first + r]; });
    }
    const Real* before = b.before;
    product(n, blocks, e, b.read_v, ev * LANES, 1, heads, blocks, 1, [=, this](Index r, Index c, Vector v) {
        gelu(v + before[r], units[r * blocks + c], slopes[r * blocks + c]);
    });
    product(s.outputs, blocks, n, p.last, n, 1, units, blocks, 1,
            [=, this](Index r, Index c, Vector v) { said[r * blocks + c] = v + p.last_bias[r]; });
}

void Step::forward(const Parameters<const Real>& p) {
    fold(p);
    for (Index index = 0; index < blocks; ++index) pool(index);
    read(p);
}

void Step::outputs(Real* to) const {
    const Real* said = reinterpret_cast<const Real*>(b.said);
    for (Index i = 0; i < batch; ++i)
        for (Index o = 0; o < s.outputs; ++o) to[i * s.outputs + o] = said[o * blocks * LANES + i];
}

// ---- backward -----------------------------------------------------------------------------------------------------

static INLINE Real row_total(const Vector* row, Index count) {
    Vector sum = {};
    for (Index i = 0; i < count; ++i) sum += row[i];
    return total(sum);
}

// From the error of the outputs to the gradient at `pooled` (left in its place after its last use, per head).
void Step::read_backward(const Parameters<const Real>& p, const Parameters<Real>& g) {
    Vector *said = b.said, *slopes = b.slopes, *heads = b.heads, *pooled = b.pooled;
    Real* numbers = reinterpret_cast<Real*>(said);
    for (Index o = 0; o < s.outputs; ++o) {
        for (Index c = 0; c < blocks; ++c)
            said[o * blocks + c] = (said[o * blocks + c] - b.target[o * blocks + c]) * (Real(2) / (batch * s.outputs));
        for (Index i = batch; i < blocks * LANES; ++i) numbers[o * blocks * LANES + i] = 0;
        g.last_bias[o] = row_total(said + o * blocks, blocks);
    }
    product(s.outputs, n, blocks, said, blocks, 1, b.units, 1, blocks,
            [=, this](Index r, Index c, Vector v) { g.last[r * n + c] = total(v); });
    product(n, blocks, s.outputs, p.last, 1, n, said, blocks, 1,
            [=, this](Index r, Index c, Vector v) { slopes[r * blocks + c] *= v; });
    product(n, e, blocks, slopes, blocks, 1, heads, 1, blocks,
            [=, this](Index r, Index c, Vector v) { b.d_read_v[r * ev * LANES + c] = total(v); });
    for (Index k = 0; k < n; ++k) b.d_before[k] = row_total(slopes + k * blocks, blocks);
    product(e, blocks, n, b.read_v, 1, ev * LANES, slopes, blocks, 1,
            [=, this](Index r, Index c, Vector v) { heads[r * blocks + c] = v; });
    for (Index f = 0; f < e; ++f) b.d_after[f] = row_total(heads + f * blocks, blocks);
    for (Index i = 0; i < h; ++i)
        product(s.head, n, blocks, heads + i * s.head * blocks, blocks, 1, pooled + i * n * blocks, 1, blocks,
                [=, this](Index r, Index c, Vector v) {
                    b.d_fold_v[(i * s.head + r) * nv * LANES + c] = total(v);
                });
}

// Gradient at the pooled units of one block -> at the encoder's first layer and at the directions (summed by lane).
// d z = sum_i weights_i d_pool_i + d_scores_i direction_i is one product: d_pool is followed by the directions in all
// lanes, weights by d_scores.
void Step::pool_backward(Index index) {
    const Vector *powers = b.powers + index * h * s.length, *shift = b.shift + index * h * (s.length / CHUNK + 1);
    const Vector *scale = b.scale + index * h, *most = b.most + index * h;
    Vector *weights = b.weights, *d_scores = weights + h * CHUNK, *d_pool = b.d_pool, *level = b.level, *factor = b.factor;
    Vector *z = b.z, *d_z = b.d_z, *slope = b.slope, *sum_direction = b.sum_direction, *sum_in = b.sum_in;
    for (Index i = 0; i < h; ++i) {
        product(n, 1, s.head, b.fold_v + i * s.head * nv * LANES, 1, nv * LANES, b.heads + i * s.head * blocks + index,
                blocks, 1, [=, this](Index k, Index, Vector v) { d_pool[i * n + k] = v; });
        level[i] = Vector{};
        for (Index k = 0; k < n; ++k) level[i] += d_pool[i * n + k] * b.pooled[(i * n + k) * blocks + index];
    }
    for (Index t = 0; t < s.length; t += CHUNK, powers += h * CHUNK, shift += h) {
        const Index chunk = s.length - t < CHUNK ? s.length - t : CHUNK;
        const Vector* tokens = b.tokens + (index * s.length + t) * d;
        encode(tokens, chunk);
        for (Index i = 0; i < h; ++i) factor[i] = exponential(shift[i] - most[i]) * scale[i];
        product(h, chunk, n, d_pool, n, 1, z, CHUNK, 1, [=](Index i, Index c, Vector v) {
            const Vector weight = powers[i * chunk + c] * factor[i];
            weights[i * CHUNK + c] = weight;
            d_scores[i * CHUNK + c] = weight * (v - level[i]);
        });
        product(h, n, chunk, d_scores, CHUNK, 1, z, 1, CHUNK,
                [=, this](Index i, Index k, Vector v) { sum_direction[i * n + k] += v; });
        auto finish = [&](auto times_slope) {
            product(n, chunk, 2 * h, d_pool, 1, n, weights, CHUNK, 1, [=](Index k, Index c, Vector v) {
                d_z[k * CHUNK + c] = times_slope(v, k * CHUNK + c);
            });
        };
        if (s.activation == 0) finish([=](Vector v, Index at) { return z[at] > 0 ? v : Vector{}; });
        else finish([=](Vector v, Index at) { return v * slope[at]; });
        product(n, d, chunk, d_z, CHUNK, 1, tokens, d, 1,
                [=, this](Index k, Index j, Vector v) { sum_in[k * d + j] += v; });
    }
}

// pre = R a + before, R = read mix; a_i = M_i pooled_i + constant, M = value out: back to read, mix, value, out.
void Step::fold_backward(const Parameters<const Real>& p, const Parameters<Real>& g) {
    const Vector *d_read = as_vectors(b.d_read_v), *d_fold = as_vectors(b.d_fold_v);
    product(n, ev, e, b.d_read_v, ev * LANES, 1, as_vectors(b.mix_t), ev, 1, [=, this](Index r, Index c, Vector v) {
        const Index at = c * LANES;
        store(g.read + r * e + at, v + b.d_before[r] * load(p.mix_bias + at, e - at), e - at);
    });
    product(e, ev, n, p.read, 1, e, d_read, ev, 1, [=, this](Index r, Index c, Vector v) {
        store(g.mix + r * e + c * LANES, v, e - c * LANES);
    });
    product(e, ev, n, b.d_fold_v, nv * LANES, 1, as_vectors(b.out_t), ev, 1, [=, this](Index r, Index c, Vector v) {
        const Index at = c * LANES;
        store(g.value + r * e + at, v + b.d_after[r] * load(p.out_bias + at, e - at), e - at);
    });
    product(e, nv, e, p.value, 1, e, d_fold, nv, 1, [=, this](Index r, Index c, Vector v) {
        store(g.out + r * n + c * LANES, v, n - c * LANES);
    });
    std::memcpy(g.read_bias, b.d_before, n * sizeof(Real));
    std::memcpy(g.value_bias, b.d_after, e * sizeof(Real));
    std::memset(g.mix_bias, 0, e * sizeof(Real));
    std::memset(g.out_bias, 0, e * sizeof(Real));
    for (Index k = 0; k < n; ++k) add_multiple(g.mix_bias, b.d_before[k], p.read + k * e, e);
    for (Index f = 0; f < e; ++f) add_multiple(g.out_bias, b.d_after[f], p.value + f * e, e);
}

// direction_i = out^T asked_i, asked_i = key_i^T query_i / sqrt(n): back to out (added), key, query, class token.
void Step::ask_backward(const Parameters<const Real>& p, const Parameters<Real>& g) {
    const Real scale = 1 / std::sqrt(Real(s.head));
    for (Index i = 0; i < h; ++i)
        for (Index k = 0; k < n; ++k) b.d_direction_v[i * nv * LANES + k] = total(b.sum_direction[i * n + k]);
    product(e, nv, h, b.asked_v, 1, ev * LANES, as_vectors(b.d_direction_v), nv, 1, [=, this](Index r, Index c, Vector v) {
        Real* to = g.out + r * n + c * LANES;
        store(to, load(to, n - c * LANES) + v, n - c * LANES);
    });
    Vector* d_asked = reinterpret_cast<Vector*>(b.d_asked_v);
    product(h, ev, n, b.d_direction_v, nv * LANES, 1, as_vectors(b.out_t), ev, 1,
            [=, this](Index r, Index c, Vector v) { d_asked[r * ev + c] = v * scale; });
    std::memset(g.token, 0, e * sizeof(Real));
    std::memset(g.key_bias, 0, e * sizeof(Real));
    for (Index f = 0; f < e; ++f) {
        const Real* asked = b.d_asked_v + f / s.head * ev * LANES;
        const Real at_query = dot(p.key + f * e, asked, e);
        for (Index c = 0; c < e; ++c) g.key[f * e + c] = b.query[f] * asked[c];
        for (Index c = 0; c < e; ++c) g.query[f * e + c] = at_query * p.token[c];
        g.query_bias[f] = at_query;
        add_multiple(g.token, at_query, p.query + f * e, e);
    }
}

// After `forward`: the gradient of the mean squared error, every entry written.
void Step::backward(const Parameters<const Real>& p, const Parameters<Real>& g) {
    read_backward(p, g);
    std::memset(b.sum_in, 0, n * d * BYTES);
    std::memset(b.sum_direction, 0, h * n * BYTES);
    for (Index i = 0; i < h; ++i)
        for (Index k = 0; k < n; ++k) b.d_pool[(h + i) * n + k] = spread(b.direction_v[i * nv * LANES + k]);
    for (Index index = 0; index < blocks; ++index) pool_backward(index);
    for (Index k = 0; k < n; ++k) {
        for (Index j = 0; j < s.dim; ++j) g.in[k * s.dim + j] = total(b.sum_in[k * d + j]);
        g.in_bias[k] = total(b.sum_in[k * d + s.dim]);
    }
    fold_backward(p, g);
    ask_backward(p, g);
}

// ---- for Python: 0 on success, 1 out of memory --------------------------------------------------------------------

static void adam(Real* flat, Real* first, Real* second, const Real* gradient, Index count, Real beta1, Real beta2,
                 Real size, Real epsilon) {
    const Real rest1 = 1 - beta1, rest2 = 1 - beta2;
    for (Index i = 0; i < count; ++i) {
        first[i] = first[i] * beta1 + rest1 * gradient[i];
        second[i] = second[i] * beta2 + rest2 * gradient[i] * gradient[i];
        flat[i] -= size * first[i] / (std::sqrt(second[i]) + epsilon);
    }
}

extern "C" {

int headcount_gradient(const Sizes* s, const Real* flat, const Real* x, const Real* y, Index batch, Real* gradient) {
    try {
        Step step(*s, batch);
        step.load_batch(x, y, nullptr);
        step.forward(Parameters<const Real>(flat, *s));
        step.backward(Parameters<const Real>(flat, *s), Parameters<Real>(gradient, *s));
        return 0;
    } catch (const std::bad_alloc&) { return 1; }
}

int headcount_outputs(const Sizes* s, const Real* flat, const Real* x, Index count, Index batch, Real* to) {
    try {
        Step step(*s, batch), rest(*s, count % batch ? count % batch : 1);
        for (Index done = 0; done < count; done += batch) {
            Step& now = count - done >= batch ? step : rest;
            now.load_batch(x + done * s->length * s->dim, nullptr, nullptr);
            now.forward(Parameters<const Real>(flat, *s));
            now.outputs(to + done * s->outputs);
        }
        return 0;
    } catch (const std::bad_alloc&) { return 1; }
}

// rates: (step size, epsilon) of every step; gradient: room for one row, its padding zero.
int headcount_epoch(const Sizes* s, Real* flat, Real* first, Real* second, Real* gradient, Index row, const Real* x,
                    const Real* y, const Index* order, Index batches, Index batch, const double* rates, double beta1,
                    double beta2) {
    try {
        Step step(*s, batch);
        const Parameters<const Real> p(flat, *s);
        const Parameters<Real> g(gradient, *s);
        for (Index k = 0; k < batches; ++k) {
            step.load_batch(x, y, order + k * batch);
            step.forward(p);
            step.backward(p, g);
            adam(flat, first, second, gradient, row, beta1, beta2, rates[2 * k], rates[2 * k + 1]);
        }
        return 0;
    } catch (const std::bad_alloc&) { return 1; }
}

}  // extern "C"
