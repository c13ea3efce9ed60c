// apo:family    lse_backward
// apo:idea      dq and dk of lse[i] = log sum_j exp(s[i,j]), where s[i,j] = scale q[i] . k[j], from lse and dlse
// apo:axis      heads 1..1024 heads of k
// apo:axis      group 1..64 default 1 heads of q that share one of k
// apo:axis      S 1..1048576 queries
// apo:axis      keys 1..1048576
// apo:axis      D 1..4096 length of a query and of a key
// apo:axis      causal 0..1 default 0 a key after its query is masked; the last key and the last query meet
// apo:axis      cap 0..1000 default 0 above 0 a score is cap tanh(score / cap)
// apo:axis      segments 0..1 default 0 a key is masked for the queries of other segments
// apo:scalar    scale f32 0.08838834764831845
// apo:requires  heads*group*S*D <= 1099511627776 && heads*keys*D <= 1099511627776
// apo:input     q bf16[heads,group,S,D] normal
// apo:input     k bf16[heads,keys,D] normal
// apo:input     dlse f32[heads,group,S] fill
// apo:input     q_position i32[S] fill
// apo:input     k_position i32[keys] fill
// apo:input     q_segment i32[segments,S] index(0..4)
// apo:input     k_segment i32[segments,keys] index(0..3)
// apo:derive    lse f32[heads,group,S]
// apo:output    dq bf16[heads,group,S,D]
// apo:output    dk bf16[heads,keys,D]
// apo:unit      dq: heads group S
// apo:unit      dk: heads keys
// apo:class     heads D <= 256
// apo:class     vocabulary D > 256
// apo:workload  h2_s128_d64    production heads=2 S=128 keys=128 D=64
// apo:workload  h4_s256_d64    production heads=4 S=256 keys=256 D=64
// apo:workload  h8_s2048_d128  extreme    heads=8 S=2048 keys=2048 D=128
// apo:workload  h32_s4096_d128 extreme    heads=32 S=4096 keys=4096 D=128
// apo:workload  h32_s8192_d128 extreme    heads=32 S=8192 keys=8192 D=128
// apo:workload  causal_s4096   extreme    heads=32 S=4096 keys=4096 D=128 causal=1
// apo:workload  v32768_d768    extreme    heads=1 S=2048 keys=32768 D=768
// apo:workload  s16_d16        small      heads=1 group=2 S=16 keys=16 D=16
// apo:workload  s1_d1          small      heads=1 S=1 keys=1 D=1
// apo:workload  s70_d40        small      heads=1 S=70 keys=68 D=40
// apo:workload  s16_d128       small      heads=1 S=16 keys=24 D=128 causal=1
// apo:workload  vocabulary     small      heads=1 S=8 keys=40 D=288
// apo:workload  ragged         ragged     heads=2 S=33 keys=45 D=24 causal=1
// apo:workload  grouped        ragged     heads=1 group=3 S=21 keys=66 D=16 cap=5 segments=1 causal=1
// apo:workload  masked_rows    ragged     heads=1 S=40 keys=24 D=16 causal=1
#include "lse_backward_scores.h"

// Positions exist so that a part of the queries or keys knows where it lies: kernels need not read them. One dlse of
// eight is 0, the gradient of a token that counts nowhere.
inline void fill_q_position(int64_t, int64_t, int64_t S, int64_t keys, int64_t, int64_t, int64_t, int64_t, Random&,
                            int64_t* position) {
  for (int64_t i = 0; i < S; ++i) {
    position[i] = i + keys - S;
  }
}

inline void fill_k_position(int64_t, int64_t, int64_t, int64_t keys, int64_t, int64_t, int64_t, int64_t, Random&,
                            int64_t* position) {
  for (int64_t j = 0; j < keys; ++j) {
    position[j] = j;
  }
}

inline void fill_dlse(int64_t heads, int64_t group, int64_t S, int64_t, int64_t, int64_t, int64_t, int64_t,
                      Random& random, double* dlse) {
  for (int64_t i = 0; i < heads * group * S; ++i) {
    const double drawn = random.normal();
    dlse[i] = random.uniform() < 0.125 ? 0 : drawn;
  }
}

template <class Real>
void derive(int64_t heads, int64_t group, int64_t S, int64_t keys, int64_t D, int64_t causal, int64_t cap,
            int64_t segments, Real scale, const Real* q, const Real* k, const Real*, const int64_t* q_position,
            const int64_t* k_position, const int64_t* q_segment, const int64_t* k_segment, Real* lse) {
  const Mask mask{causal, segments, q_position, k_position, q_segment, k_segment};
  const std::vector<float> all_keys(k, k + heads * keys * D);
  in_parallel(heads * group * S, [&](int64_t row) {
    const std::vector<float> query(q + row * D, q + (row + 1) * D);
    const float* of_head = all_keys.data() + row / (group * S) * keys * D;
    lse[row] = log_sum_exp(query.data(), of_head, row % S, keys, D, static_cast<float>(scale), cap, mask);
  });
}

// A masked pair has no part in anything, whatever lse is. A weight is kept in bf16, and so is dlse q.
template <class Real>
void reference(int64_t heads, int64_t group, int64_t S, int64_t keys, int64_t D, int64_t causal, int64_t cap,
               int64_t segments, Real scale, const Real* q, const Real* k, const Real* dlse, const int64_t* q_position,
               const int64_t* k_position, const int64_t* q_segment, const int64_t* k_segment, const Real* lse, Real* dq,
               Real* dk) {
  const Mask mask{causal, segments, q_position, k_position, q_segment, k_segment};
  for (int64_t h = 0; h < heads; ++h, k += keys * D, dk += keys * D) {
    std::vector<Real> to_keys(keys * D, Real(0));
    for (int64_t row = 0; row < group * S; ++row, q += D, dq += D, ++lse, ++dlse) {
      std::vector<Real> to_query(D, Real(0)), weighted(D);
      for (int64_t d = 0; d < D; ++d) {
        weighted[d] = rounded<bf16>(*dlse * q[d]);
      }
      for (int64_t j = 0; j < keys; ++j) {
        if (!mask.hides(row % S, j)) {
          const Real weight = rounded<bf16>(weight_of(scale, q, k + j * D, D, cap, *lse));
          for (int64_t d = 0; d < D; ++d) {
            to_query[d] = fma(weight, k[j * D + d], to_query[d]);
            to_keys[j * D + d] = fma(weight, weighted[d], to_keys[j * D + d]);
          }
        }
      }
      for (int64_t d = 0; d < D; ++d) {
        dq[d] = *dlse * scale * to_query[d];
      }
    }
    for (int64_t i = 0; i < keys * D; ++i) {
      dk[i] = scale * to_keys[i];
    }
  }
}
