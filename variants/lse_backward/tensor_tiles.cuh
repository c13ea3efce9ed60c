// variants/lse_backward/tensor_tiles.cuh - tiles of queries by keys on the tensor cores: weights, dq and dk.
//
// A block owns a tile of queries, of which each warp has 16 rows, and walks along the keys a tile at a time, or the
// other way round. D up to 64 or 128, padded with zeros.
#pragma once
#include "mma_bf16.cuh"
#include "scores.cuh"

namespace {

constexpr int kTile = 64;
constexpr float kLog2e = 1.4426950408889634f;

template <int kD, int kRows = kTile>
using Operand = SharedTile<kRows, kD>;
using Weights = SharedTile<kTile, kTile>;

// What a block keeps in shared memory: the rows that it owns, and a ring of tiles that it walks along, of which all but
// one are on their way.
template <int kOfD, int kOwnRows = kTile, int kWalkedRows = kTile, int kTilesOfRing = 2>
struct Tiles {
  static constexpr int kD = kOfD, kOwn = kOwnRows, kWalked = kWalkedRows, kStages = kTilesOfRing;
  Operand<kD, kWalked> ring[kStages];
  Operand<kD, kOwn> own;
  __device__ Operand<kD, kWalked>& walked(long long n) { return ring[n % kStages]; }
};

// What a weight needs beside its product.
struct Scale {
  float scale, scale2, cap;
  bool is_plain;  // no cap

  __device__ explicit Scale(const lse_backward_args& a)
      : scale(a.scale), scale2(a.scale * kLog2e), cap(static_cast<float>(a.cap)), is_plain(a.cap == 0) {}
  // A score after the cap, times log2(e).
  __device__ float score2(float product) const {
    return is_plain ? product * scale2 : cap * tanhf(product * scale / cap) * kLog2e;
  }
  // lse2 = lse log2(e)
  __device__ float weight(float product, float lse2) const {
    if (is_plain) {
      return exp2f(product * scale2 - lse2);
    }
    const float bent = tanhf(product * scale / cap);
    return exp2f(cap * bent * kLog2e - lse2) * (1 - bent * bent);
  }
};

// A head's tensors, and where the tile's masks are.
struct HeadOf {
  const lse_backward_args& a;
  long long query_head, rows;  // of q; rows = group S

  __device__ HeadOf(const lse_backward_args& args, long long head)
      : a(args), query_head(head), rows(args.group * args.S) {}
  __device__ const bf16* q(long long i) const { return a.q + (query_head * a.S + i) * a.D; }
  __device__ const bf16* k(long long j) const { return a.k + (query_head / a.group * a.keys + j) * a.D; }
  // The first key that no query up to `i` sees.
  __device__ long long keys_seen(long long i) const {
    const long long seen = a.causal ? i + a.keys - a.S + 1 : a.keys;
    return seen < 0 ? 0 : seen < a.keys ? seen : a.keys;
  }
  // The first query that sees key j.
  __device__ long long first_query(long long j) const {
    const long long first = a.causal ? j - a.keys + a.S : 0;
    return first < 0 ? 0 : first;
  }
  // Of queries from `i` on by keys from `j` on.
  template <int kQueries, int kKeys>
  __device__ bool tile_has_masks(long long i, long long j) const {
    return a.segments || i + kQueries > a.S || j + kKeys > a.keys || (a.causal && j + kKeys - 1 > i + a.keys - a.S);
  }
  __device__ bool is_masked(long long i, long long j) const { return i >= a.S || j >= a.keys || is_hidden(a, i, j); }
};

// 16 rows of `left` by all of `right`: the products of the warp's rows with each row of the other.
template <int kD, int kRows>
__device__ void products(const unsigned (&left)[kD / 16][4], const Operand<kD, kRows>& right,
                         float (&of)[kRows / 8][4]) {
#pragma unroll
  for (int n = 0; n < kRows / 16; ++n) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      of[2 * n][v] = of[2 * n + 1][v] = 0;
    }
#pragma unroll
    for (int d = 0; d < kD / 16; ++d) {
      unsigned b[4];
      right.right_transposed(b, 16 * n, 16 * d);
      mma(of[2 * n], left[d], b[0], b[1]);
      mma(of[2 * n + 1], left[d], b[2], b[3]);
    }
  }
}

// sums[16 x D] += weights[16 x rows] right[rows x D]
template <int kD, int kRows>
__device__ void add_product(const unsigned (&weights)[kRows / 16][4], const Operand<kD, kRows>& right,
                            float (&sums)[kD / 8][4]) {
#pragma unroll
  for (int k = 0; k < kRows / 16; ++k) {
#pragma unroll
    for (int d = 0; d < kD / 16; ++d) {
      unsigned b[4];
      right.right(b, 16 * k, 16 * d);
      mma(sums[2 * d], weights[k], b[0], b[1]);
      mma(sums[2 * d + 1], weights[k], b[2], b[3]);
    }
  }
}

// Gives each pair of neighbours of the warp's 16 x D to work(row of 16, column, first, second).
template <int kD, class Work>
__device__ void for_each_pair(const float (&sums)[kD / 8][4], Work work) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int n = 0; n < kD / 8; ++n) {
    work(g, 8 * n + 2 * t, sums[n][0], sums[n][1]);
    work(g + 8, 8 * n + 2 * t, sums[n][2], sums[n][3]);
  }
}

template <int kD>
__device__ void clear(float (&sums)[kD / 8][4]) {
#pragma unroll
  for (int n = 0; n < kD / 8; ++n) {
    sums[n][0] = sums[n][1] = sums[n][2] = sums[n][3] = 0;
  }
}

template <int kD, int kRows>
__device__ void take_left(unsigned (&left)[kD / 16][4], const Operand<kD, kRows>& tile) {
#pragma unroll
  for (int d = 0; d < kD / 16; ++d) {
    tile.left(left[d], threadIdx.x / 32 * 16, 16 * d);
  }
}

// Scaled, as pairs of bf16, to the rows of `to` below `rows`.
template <int kD>
__device__ void store_rows(const float (&sums)[kD / 8][4], float scale, bf16* to, long long rows, long long D) {
  const int first = threadIdx.x / 32 * 16;
  for_each_pair<kD>(sums, [&](int row, int d, float x, float y) {
    if (first + row < rows && d < D) {
      *reinterpret_cast<unsigned*>(to + (first + row) * D + d) = pack(scale * x, scale * y);
    }
  });
}

// The scores of a thread's two rows are held against lse, which is known before the first key.
struct ByLse {
  __device__ void begin(float (&)[2]) {}
  template <int kD, int kKeys, class Hidden>
  __device__ void look(const Scale&, const float (&)[kKeys / 8][4], float (&)[kD / 8][4], float (&)[2], Hidden) {}
  __device__ void finish(const float (&)[2], float (&)[2]) const {}  // the rows' factors, dlse
};

// Starts to copy tile `n` of the walk to its place in the ring, if there is one: `copy` does. A group of copies of its
// own in any case, so that the wait for a tile is one for all but the last groups.
template <class Tiles, class Copy>
__device__ void start_tile(Tiles& tiles, long long n, long long all, Copy copy) {
  if (n < all) {
    copy(tiles.walked(n), n);
  }
  __pipeline_commit();
}

// dq of a tile of queries: all keys that they see, tile by tile, the next ones on their way meanwhile.
template <class Rows = ByLse, class Tiles>
__device__ void dq_tile(const lse_backward_args& a, long long head, long long first, Tiles& tiles) {
  constexpr int kD = Tiles::kD, kWalked = Tiles::kWalked, kStages = Tiles::kStages;
  const HeadOf of(a, head);
  const Scale scale(a);
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32 * 16 + lane / 4;
  const auto D = static_cast<int>(a.D);
  const long long keys = of.keys_seen(first + Tiles::kOwn < a.S ? first + Tiles::kOwn - 1 : a.S - 1);
  const long long all = (keys + kWalked - 1) / kWalked;
  const auto copy = [&](Operand<kD, kWalked>& to, long long n) {
    to.start_copy(of.k(n * kWalked), a.keys - n * kWalked, D);
  };
  tiles.own.start_copy(of.q(first), a.S - first, D);
#pragma unroll
  for (int n = 0; n < kStages - 1; ++n) {
    start_tile(tiles, n, all, copy);
  }
  __pipeline_wait_prior(kStages - 2);
  __syncthreads();
  unsigned q[kD / 16][4];
  take_left<kD>(q, tiles.own);
  Rows rows;
  float lse2[2], dlse[2], sums[kD / 8][4];
  clear<kD>(sums);
  for (int r = 0; r < 2; ++r) {
    const long long i = first + own + 8 * r;
    lse2[r] = i < a.S ? a.lse[head * a.S + i] * kLog2e : 0;
    dlse[r] = i < a.S ? a.dlse[head * a.S + i] : 0;
  }
  rows.begin(lse2);
  for (long long n = 0; n < all; ++n) {
    const long long j = n * kWalked;
    start_tile(tiles, n + kStages - 1, all, copy);
    const Operand<kD, kWalked>& now = tiles.walked(n);
    float p[kWalked / 8][4];
    products<kD>(q, now, p);
    const bool masks = of.template tile_has_masks<Tiles::kOwn, kWalked>(first, j);
    rows.template look<kD, kWalked>(scale, p, sums, lse2, [&](int n, int v) {
      return masks && of.is_masked(first + own + v / 2 * 8, j + 8 * n + lane % 4 * 2 + v % 2);
    });
#pragma unroll
    for (int m = 0; m < kWalked / 8; ++m) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const bool hidden = masks && of.is_masked(first + own + v / 2 * 8, j + 8 * m + lane % 4 * 2 + v % 2);
        p[m][v] = hidden ? 0 : scale.weight(p[m][v], lse2[v / 2]);
      }
    }
    unsigned weights[kWalked / 16][4];
#pragma unroll
    for (int k = 0; k < kWalked / 16; ++k) {
      as_left(p[2 * k], p[2 * k + 1], weights[k]);
    }
    add_product<kD>(weights, now, sums);
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
  }
  rows.finish(lse2, dlse);
#pragma unroll
  for (int n = 0; n < kD / 8; ++n) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      sums[n][v] *= dlse[v / 2];
    }
  }
  store_rows<kD>(sums, a.scale, a.dq + (head * a.S + first) * a.D, a.S - first, a.D);
}

// Without dq: what dk_tile() does with the transposed weights beside adding them to dk.
struct OnlyKeys {
  template <class Products, class Row>
  __device__ void operator()(const HeadOf&, const Products&, const Row&, long long) const {}
};

// dk of a tile of keys: all queries that see them, of each head of the group. `also` gets each tile of weights,
// transposed and without dlse, and by query what they are multiplied with for dk.
template <class Tiles, class Also>
__device__ void dk_tile(const lse_backward_args& a, long long key_head, long long first, Tiles& tiles,
                        const Also& also) {
  constexpr int kD = Tiles::kD, kWalked = Tiles::kWalked, kStages = Tiles::kStages;
  const Scale scale(a);
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32 * 16 + lane / 4;
  const auto D = static_cast<int>(a.D);
  const HeadOf first_head(a, key_head * a.group);
  const long long begin = first_head.first_query(first) / kWalked * kWalked;
  const long long tiles_of_head = begin < a.S ? (a.S - begin + kWalked - 1) / kWalked : 0,
                  all = tiles_of_head * a.group;
  const auto copy = [&](Operand<kD, kWalked>& to, long long n) {
    to.start_copy(HeadOf(a, key_head * a.group + n / tiles_of_head).q(begin + n % tiles_of_head * kWalked),
                  a.S - begin - n % tiles_of_head * kWalked, D);
  };
  tiles.own.start_copy(first_head.k(first), a.keys - first, D);
#pragma unroll
  for (int n = 0; n < kStages - 1; ++n) {
    start_tile(tiles, n, all, copy);
  }
  __pipeline_wait_prior(kStages - 2);
  __syncthreads();
  unsigned k[kD / 16][4];
  take_left<kD>(k, tiles.own);
  float sums[kD / 8][4];
  clear<kD>(sums);
  for (long long n = 0; n < all; ++n) {
    const HeadOf of(a, key_head * a.group + n / tiles_of_head);
    const long long i = begin + n % tiles_of_head * kWalked;
    start_tile(tiles, n + kStages - 1, all, copy);
    const Operand<kD, kWalked>& now = tiles.walked(n);
    float p[kWalked / 8][4], dlse[kWalked / 8][2];
    products<kD>(k, now, p);
    const bool masks = of.template tile_has_masks<kWalked, Tiles::kOwn>(i, first);
#pragma unroll
    for (int m = 0; m < kWalked / 8; ++m) {
      float lse2[2];
      for (int c = 0; c < 2; ++c) {
        const long long query = i + 8 * m + lane % 4 * 2 + c, at = of.query_head * a.S + query;
        lse2[c] = query < a.S ? a.lse[at] * kLog2e : 0;
        dlse[m][c] = query < a.S ? a.dlse[at] : 0;
      }
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const bool hidden =
            masks && of.is_masked(i + 8 * m + lane % 4 * 2 + v % 2, first + own + v / 2 * 8);
        p[m][v] = hidden ? 0 : scale.weight(p[m][v], lse2[v % 2]);
      }
    }
    also(of, p, dlse, i);
    unsigned weights[kWalked / 16][4];
#pragma unroll
    for (int m = 0; m < kWalked / 8; ++m) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        p[m][v] *= dlse[m][v % 2];
      }
    }
#pragma unroll
    for (int m = 0; m < kWalked / 16; ++m) {
      as_left(p[2 * m], p[2 * m + 1], weights[m]);
    }
    add_product<kD>(weights, now, sums);
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
  }
  store_rows<kD>(sums, a.scale, a.dk + (key_head * a.keys + first) * a.D, a.keys - first, a.D);
}

}  // namespace
