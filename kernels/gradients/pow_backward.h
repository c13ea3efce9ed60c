// apo:family    pow_backward
// apo:idea      the gradients of out = A^B for A > 0, where B repeats along the dimensions that it has not: dA = g B A^(B-1), dB = sum g A^B ln A
// apo:axis      need_dA 0..1 default 1 is the gradient of A wanted
// apo:axis      need_dB 0..1 default 1 is that of B
// apo:axis      kept 0..255 the dimensions of A that B has, bit 128 is d0 and bit 1 is d7; B repeats along the others
// apo:axis      d0 0..4294967296 default 1
// apo:axis      d1 0..4294967296 default 1
// apo:axis      d2 0..4294967296 default 1
// apo:axis      d3 0..4294967296 default 1
// apo:axis      d4 0..4294967296 default 1
// apo:axis      d5 0..4294967296 default 1
// apo:axis      d6 0..4294967296 default 1
// apo:axis      d7 0..4294967296 default 1
// apo:requires  need_dA + need_dB > 0 && d0*d1*d2*d3*d4*d5*d6*d7 <= 1099511627776
// apo:input     g f32[d0,d1,d2,d3,d4,d5,d6,d7] normal
// apo:input     A f32[d0,d1,d2,d3,d4,d5,d6,d7] positive
// apo:input     B f32[kept/128%2?d0:1,kept/64%2?d1:1,kept/32%2?d2:1,kept/16%2?d3:1,kept/8%2?d4:1,kept/4%2?d5:1,kept/2%2?d6:1,kept/1%2?d7:1] uniform(-2,4)
// apo:output    dA f32[need_dA,d0,d1,d2,d3,d4,d5,d6,d7]
// apo:output    dB f32[need_dB,kept/128%2?d0:1,kept/64%2?d1:1,kept/32%2?d2:1,kept/16%2?d3:1,kept/8%2?d4:1,kept/4%2?d5:1,kept/2%2?d6:1,kept/1%2?d7:1]
// apo:regimes   typical wide near_zero saturating constant_rows zero_rows extreme equal alternating
// apo:unit      d0 d1 d2 d3 d4 d5 d6 d7/32
// apo:class     equal kept == 255
// apo:class     columns kept % 2 == 1
// apo:class     rows kept % 2 == 0
// apo:workload  llama_norm     production kept=1 d5=4 d6=64 d7=2048
// apo:workload  llama_row      production kept=6 d5=4 d6=64 d7=2048
// apo:workload  large_equal    extreme    kept=255 d5=8 d6=1024 d7=4096
// apo:workload  large_columns  extreme    kept=1 d5=8 d6=1024 d7=4096
// apo:workload  large_rows     extreme    kept=6 d5=8 d6=1024 d7=4096
// apo:workload  six_equal      ragged     kept=255 d4=2 d5=3 d6=4 d7=5
// apo:workload  six_leading    small      kept=3 d4=2 d5=3 d6=4 d7=5
// apo:workload  six_inner      small      kept=14 d4=2 d5=3 d6=4 d7=5
// apo:workload  six_scalar     small      kept=0 d5=3 d6=5 d7=4
// apo:workload  six_rope       ragged     kept=5 d4=2 d5=3 d6=4 d7=5
// apo:workload  ragged_columns ragged     kept=1 d6=37 d7=131
// apo:workload  ragged_rows    ragged     kept=2 d6=19 d7=261
// apo:workload  rank_8         small      kept=85 d0=2 d1=2 d2=3 d3=2 d4=2 d5=2 d6=3 d7=2
// apo:workload  rank_0         small      kept=255
// apo:workload  empty_reduced  small      kept=1 d6=0 d7=5
// apo:workload  empty          small      kept=255 d7=0
// apo:workload  only_dB        small      need_dA=0 kept=1 d6=6 d7=9
// apo:workload  only_dA        small      need_dB=0 kept=1 d6=6 d7=9
//
// A lies between 2^-20 (near_zero) and 2^9: near 0, near 1, where ln A vanishes, and above 100. B lies between -2 and
// 4: at the ends in wide and extreme, 0 in zero_rows, near 0 in near_zero. So A^B and A^(B-1) stay between 2^-64 and
// 2^64: no gradient overflows binary32 or falls below its normal numbers. The contract says nothing of A <= 0, where
// A^B is real for whole B alone and ln A is not.
#include "binary_backward_reference.h"

// A^B = 2^(B log2 A), one power for both gradients. Its error grows with B log2 A, which no kernel in binary32 avoids.
// A may be off by 2^-22 within log2: near A = 1 this is the absolute error of lg2.approx (PTX ISA).
template <class Real>
void reference(int64_t need_dA, int64_t need_dB, int64_t kept, int64_t d0, int64_t d1, int64_t d2, int64_t d3,
               int64_t d4, int64_t d5, int64_t d6, int64_t d7, const Real* g, const Real* A, const Real* B, Real* dA,
               Real* dB) {
  constexpr double kLn2 = 0.6931471805599453;
  const int64_t extent[8] = {d0, d1, d2, d3, d4, d5, d6, d7};
  const std::vector<int64_t> of_b = offsets_of(extent, kept, true);
  const std::vector<int64_t> repeats = offsets_of(extent, kept, false);
  std::vector<Real> terms(repeats.size());
  for (size_t j = 0; j < of_b.size(); ++j) {
    for (size_t r = 0; r < repeats.size(); ++r) {
      const int64_t i = of_b[j] + repeats[r];
      const Real logarithm = log2(approximate<22>(A[i])), power = exp2(B[j] * logarithm);
      if (need_dA) {
        dA[i] = g[i] * (B[j] * (power / A[i]));
      }
      if (need_dB) {
        terms[r] = g[i] * (power * (logarithm * Real(kLn2)));
      }
    }
    if (need_dB) {
      dB[j] = sum<Real>(static_cast<int64_t>(terms.size()), [&](int64_t r) { return terms[static_cast<size_t>(r)]; });
    }
  }
}
