// harness/executor/device/ptx.h - what the PTX instructions of ptx.cpp's table do, in C++. Operands come in the order
// of the asm statement: outputs by reference, then inputs.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "sync.inl"

namespace apo_cpu::ptx {

// The first operand of cvt.*x2 is the upper half.
inline void cvt_bf16x2(unsigned& pair, float high, float low) {
  pair = static_cast<unsigned>(__float2bfloat16(high).bits) << 16 | __float2bfloat16(low).bits;
}
inline void cvt_f16x2(unsigned& pair, float high, float low) {
  pair = static_cast<unsigned>(__float2half(high).bits) << 16 | __float2half(low).bits;
}
inline void half_low(float& x, unsigned pair) {
  x = __half2float(__ushort_as_half(static_cast<unsigned short>(pair)));
}
inline void half_high(float& x, unsigned pair) {
  x = __half2float(__ushort_as_half(static_cast<unsigned short>(pair >> 16)));
}
// A product of two bf16 is exact in double; a sum is rounded to float on its way.
inline void fma_bf16x2(unsigned& pair, unsigned x, unsigned y, unsigned z) {
  const auto at = [](unsigned of, unsigned shift) { return static_cast<double>(__uint_as_float(of >> shift << 16)); };
  pair = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const auto sum = static_cast<float>(at(x, shift) * at(y, shift) + at(z, shift));
    pair |= static_cast<unsigned>(__float2bfloat16(sum).bits) << shift;
  }
}
inline void tanh_approx(float& y, float x) {
  y = tanhf(x);
}
inline void ex2_approx(float& y, float x) {
  y = exp2f(x);
}
inline void lg2_approx(float& y, float x) {
  y = log2f(x);
}
inline void rcp_approx(float& y, float x) {
  y = 1.0f / x;
}
inline void rsqrt_approx(float& y, float x) {
  y = rsqrtf(x);
}
inline void sqrt_approx(float& y, float x) {
  y = sqrtf(x);
}

// Hints change nothing that can be seen.
template <class Address>
inline void prefetch(Address) {}
inline void policy(unsigned long long& policy) {
  policy = 0;
}
APO_CPU_INLINE void store_b16(void* to, unsigned short bits, unsigned long long) {
  *static_cast<unsigned short*>(to) = bits;
}
APO_CPU_INLINE void load_b16(unsigned short& bits, const void* from, unsigned long long) {
  bits = *static_cast<const unsigned short*>(from);
}

inline void bar_sync(unsigned id, unsigned threads, Line line = {__builtin_FILE(), __builtin_LINE()}) {
  barrier("bar.sync", line, id, threads);
}
template <unsigned kThreads>
inline void bar_sync_of(unsigned id, Line line = {__builtin_FILE(), __builtin_LINE()}) {
  barrier("bar.sync", line, id, kThreads);
}

// Shared addresses are offsets, as from __cvta_generic_to_shared.
template <Size kBytes>
APO_CPU_UNSEEN [[gnu::noinline]] void cp_async(unsigned to, const void* from) {
  call_start_copy(reinterpret_cast<Address>(call_shared_address(to)), reinterpret_cast<Address>(from), kBytes, 0,
                  __builtin_return_address(0));
}
inline void cp_async_commit() {
  call_commit_copies();
}
inline void cp_async_wait(unsigned groups) {
  call_wait_copies(groups);
}
template <unsigned kGroups>
inline void cp_async_wait_for() {
  call_wait_copies(kGroups);
}

// mma.m16n8k8 of tf32 and mma.m16n8k16 of bf16, of which a word has one element or a pair along k. With g = lane / 4
// and t = lane % 4, word i of a lane is a[g + 8 (i % 2)][t + 4 (i / 2)], b[t + 4 i][g] (counting words along k), and
// c[g + 8 (i / 2)][2 t + i % 2] (PTX ISA, "Matrix Fragments").
template <unsigned kInWord>
APO_CPU_UNSEEN inline void finish_mma(Collective* const* lanes, unsigned) {
  const auto word = [&](unsigned lane, unsigned i) {
    return static_cast<unsigned>(lanes[lane]->in[i / 2] >> 32 * (i % 2));
  };
  // Of an operand in tf32 only 10 bits of mantissa count.
  const auto value = [&](unsigned lane, unsigned i, unsigned k) {
    return __uint_as_float(kInWord == 1 ? word(lane, i) & 0xffffe000u
                           : k % 2 == 0 ? word(lane, i) << 16
                                        : word(lane, i) & 0xffff0000u);
  };
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    unsigned result[4];
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      float sum = __uint_as_float(word(lane, 6 + i));
      for (unsigned k = 0; k < 8 * kInWord; ++k) {
        const unsigned along = k / kInWord;
        sum += value(row % 8 * 4 + along % 4, row / 8 + 2 * (along / 4), k) *
               value(column * 4 + along % 4, 4 + along / 4, k);
      }
      result[i] = __float_as_uint(sum);
    }
    __builtin_memcpy(lanes[lane]->out, result, sizeof result);
  }
}
// An mbarrier: bytes that are still to come, arrivals that are, arrivals of each phase, and the phase's parity. A bulk
// copy is done at once; who reads its bytes without the wait races with the thread that started it.
struct Mbarrier {
  unsigned bytes;
  unsigned short arrivals;
  unsigned short count : 15, parity : 1;
};
template <class Change>
APO_CPU_INLINE void change_mbarrier(unsigned address, Change change) {
  apo_cpu::atomic(static_cast<unsigned long long*>(call_shared_address(address)), [=](unsigned long long word) {
    Mbarrier barrier = __builtin_bit_cast(Mbarrier, word);
    change(barrier);
    if (barrier.arrivals == 0 && barrier.bytes == 0) {
      barrier.arrivals = barrier.count;
      barrier.parity ^= 1;
    }
    return __builtin_bit_cast(unsigned long long, barrier);
  });
}
APO_CPU_INLINE void mbarrier_init(unsigned address, unsigned count) {
  const auto arrivals = static_cast<unsigned short>(count);
  const Mbarrier barrier{0, arrivals, arrivals, 0};
  *static_cast<unsigned long long*>(call_shared_address(address)) = __builtin_bit_cast(unsigned long long, barrier);
}
inline void mbarrier_publish() {}
APO_CPU_INLINE void mbarrier_arrive(unsigned address) {
  change_mbarrier(address, [](Mbarrier& barrier) { --barrier.arrivals; });
}
APO_CPU_INLINE void mbarrier_expect(unsigned address, unsigned bytes) {
  change_mbarrier(address, [bytes](Mbarrier& barrier) { barrier.bytes += bytes, --barrier.arrivals; });
}
APO_CPU_INLINE void mbarrier_wait(unsigned address, unsigned parity) {
  auto* const word = static_cast<unsigned long long*>(call_shared_address(address));
  while (__builtin_bit_cast(Mbarrier, apo_cpu::atomic(word, [](unsigned long long old) { return old; })).parity ==
         parity) {
  }
}
APO_CPU_INLINE void bulk_copy(unsigned to, Address from, unsigned bytes, unsigned address) {
  apo_cpu::copy(call_shared_address(to), reinterpret_cast<const void*>(from), bytes);
  change_mbarrier(address, [bytes](Mbarrier& barrier) { barrier.bytes -= bytes; });
}

template <unsigned kInWord>
inline void mma(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                unsigned b0, unsigned b1, Line line = {__builtin_FILE(), __builtin_LINE()}) {
  const unsigned words[10] = {
      a0, a1, a2, a3, b0, b1, __float_as_uint(d0), __float_as_uint(d1), __float_as_uint(d2), __float_as_uint(d3)};
  Collective c{"mma.sync", ~0u, line, finish_mma<kInWord>, {}, {}, 0};
  __builtin_memcpy(c.in, words, sizeof words);
  call_collective(&c);
  float result[4];
  __builtin_memcpy(result, c.out, sizeof result);
  d0 = result[0], d1 = result[1], d2 = result[2], d3 = result[3];
}

// ldmatrix: lane 8 m + r names row r of matrix m, and lane 4 r + t gets its elements 2 t and 2 t + 1; transposed, lane
// 4 c + t gets those of column c in rows 2 t and 2 t + 1. The lanes tell each other the rows, and each reads its own.
APO_CPU_UNSEEN inline void finish_ldmatrix(Collective* const* lanes, unsigned) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const bool transposed = lanes[lane]->in[1] != 0;
    unsigned rows[8];
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = transposed ? 2 * (lane % 4) + i % 2 : lane / 4;
      rows[i] = static_cast<unsigned>(lanes[8 * (i / 2) + row]->in[0]);
    }
    __builtin_memcpy(lanes[lane]->out, rows, sizeof rows);
  }
}
template <bool kTransposed>
inline void ldmatrix_x4(unsigned& r0, unsigned& r1, unsigned& r2, unsigned& r3, unsigned address,
                        Line line = {__builtin_FILE(), __builtin_LINE()}) {
  Collective c{kTransposed ? "ldmatrix.trans" : "ldmatrix", ~0u, line, finish_ldmatrix, {}, {}, 0};
  c.in[0] = address;
  c.in[1] = kTransposed ? 1 : 0;
  call_collective(&c);
  unsigned rows[8];
  __builtin_memcpy(rows, c.out, sizeof rows);
  const unsigned first = 2 * (lane() % 4), column = lane() / 4;
  unsigned* const to[] = {&r0, &r1, &r2, &r3};
  for (unsigned m = 0; m < 4; ++m) {
    const auto* low = reinterpret_cast<const unsigned short*>(call_shared_address(rows[2 * m]));
    const auto* high = reinterpret_cast<const unsigned short*>(call_shared_address(rows[2 * m + 1]));
    *to[m] = static_cast<unsigned>(high[kTransposed ? column : first + 1]) << 16 | low[kTransposed ? column : first];
  }
}

}  // namespace apo_cpu::ptx
