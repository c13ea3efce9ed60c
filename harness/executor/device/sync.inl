// harness/executor/device/sync.inl - barriers, shuffles, votes, matches. Default arguments of __builtin_FILE() and
// __builtin_LINE() are the caller's line: two barriers are the same one when they stand on the same line.

#pragma once

namespace apo_cpu {

inline int barrier(const char* name, Line line, unsigned id, unsigned threads, Vote vote = Vote::none,
                   int predicate = 0, bool is_of_grid = false) {
  Barrier barrier{name, line, id, threads, vote, predicate, 0, is_of_grid};
  call_barrier(&barrier);
  return barrier.result;
}

// 32-bit words of a value, to and from an operation of the warp.
template <class T>
inline Collective collective(const char* name, unsigned mask, Line line, const T& value,
                             void (*finish)(Collective* const*, unsigned)) {
  static_assert(sizeof(T) <= sizeof(Collective::out), "too large for a shuffle");
  Collective c{name, mask, line, finish, {}, {}, 0};
  __builtin_memcpy(c.in, &value, sizeof value);
  return c;
}
template <class T>
inline T meet(Collective& c) {
  call_collective(&c);
  T value;
  __builtin_memcpy(&value, c.out, sizeof value);
  return value;
}

// in[8] is the lane whose value is wanted; it has to be one that takes part.
APO_CPU_UNSEEN inline void finish_shuffle(Collective* const* lanes, unsigned present) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((present >> lane & 1) == 0) {
      continue;
    }
    Collective& c = *lanes[lane];
    const auto source = static_cast<unsigned>(c.in[8]);
    c.out[0] = c.out[1] = c.out[2] = c.out[3] = 0;
    c.in[9] = present >> source & 1;  // else `shuffle` reports it
    if (c.in[9] != 0) {
      for (int i = 0; i < 4; ++i) {
        c.out[i] = lanes[source]->in[i];
      }
    }
  }
}

template <class T>
inline T shuffle(const char* name, unsigned mask, Line line, T value, unsigned source) {
  Collective c = collective(name, mask, line, value, finish_shuffle);
  c.in[8] = source;
  T result = meet<T>(c);
  if (c.in[9] == 0) {
    call_fail("missing lane", "a shuffle reads a lane that does not take part: it has exited or is not in the mask",
              line);
  }
  return result;
}

inline unsigned lane() {
  return self().number % kWarp;
}

template <class F>
inline unsigned combine(Collective* const* lanes, unsigned present, F f) {
  unsigned result = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((present >> lane & 1) != 0) {
      result = f(result, lane, static_cast<unsigned>(lanes[lane]->in[0]));
    }
  }
  return result;
}
inline void give_all(Collective* const* lanes, unsigned present, Address result) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((present >> lane & 1) != 0) {
      lanes[lane]->out[0] = result;
    }
  }
}
APO_CPU_UNSEEN inline void finish_ballot(Collective* const* lanes, unsigned present) {
  give_all(lanes, present, combine(lanes, present, [](unsigned all, unsigned lane, unsigned value) {
             return all | (value != 0 ? 1u << lane : 0);
           }));
}
APO_CPU_UNSEEN inline void finish_add(Collective* const* lanes, unsigned present) {
  give_all(lanes, present, combine(lanes, present, [](unsigned all, unsigned, unsigned value) { return all + value; }));
}
template <bool kSmallest, class T>
APO_CPU_UNSEEN inline void finish_extreme(Collective* const* lanes, unsigned present) {
  T best = static_cast<T>(lanes[__builtin_ctz(present)]->in[0]);
  combine(lanes, present, [&](unsigned, unsigned, unsigned value) {
    const T other = static_cast<T>(value);
    best = kSmallest == (other < best) ? other : best;
    return 0u;
  });
  give_all(lanes, present, static_cast<unsigned>(best));
}
APO_CPU_UNSEEN inline void finish_and(Collective* const* lanes, unsigned present) {
  unsigned all = ~0u;
  combine(lanes, present, [&](unsigned, unsigned, unsigned value) { return all &= value; });
  give_all(lanes, present, all);
}
APO_CPU_UNSEEN inline void finish_or(Collective* const* lanes, unsigned present) {
  give_all(lanes, present, combine(lanes, present, [](unsigned all, unsigned, unsigned value) { return all | value; }));
}
APO_CPU_UNSEEN inline void finish_xor(Collective* const* lanes, unsigned present) {
  give_all(lanes, present, combine(lanes, present, [](unsigned all, unsigned, unsigned value) { return all ^ value; }));
}
APO_CPU_UNSEEN inline void finish_match(Collective* const* lanes, unsigned present) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    unsigned equal = 0;
    for (unsigned other = 0; other < kWarp && (present >> lane & 1) != 0; ++other) {
      equal |= (present >> other & 1) != 0 && lanes[other]->in[0] == lanes[lane]->in[0] ? 1u << other : 0;
    }
    if (equal != 0) {
      lanes[lane]->out[0] = equal;
    }
  }
}
APO_CPU_UNSEEN inline void finish_nothing(Collective* const*, unsigned) {}

inline unsigned word(const char* name, unsigned mask, Line line, unsigned value,
                     void (*finish)(Collective* const*, unsigned)) {
  Collective c = collective(name, mask, line, Address{value}, finish);
  return static_cast<unsigned>(meet<Address>(c));
}

}  // namespace apo_cpu

#define APO_CPU_LINE apo_cpu::Line apo_cpu_line = {__builtin_FILE(), __builtin_LINE()}
inline void __syncthreads(APO_CPU_LINE) {
  apo_cpu::barrier("__syncthreads", apo_cpu_line, 0, 0);
}
inline int __syncthreads_count(int predicate, APO_CPU_LINE) {
  return apo_cpu::barrier("__syncthreads_count", apo_cpu_line, 0, 0, apo_cpu::Vote::count, predicate);
}
inline int __syncthreads_and(int predicate, APO_CPU_LINE) {
  return apo_cpu::barrier("__syncthreads_and", apo_cpu_line, 0, 0, apo_cpu::Vote::every, predicate);
}
inline int __syncthreads_or(int predicate, APO_CPU_LINE) {
  return apo_cpu::barrier("__syncthreads_or", apo_cpu_line, 0, 0, apo_cpu::Vote::any, predicate);
}
inline void __syncwarp(unsigned mask = 0xffffffffu, APO_CPU_LINE) {
  apo_cpu::word("__syncwarp", mask, apo_cpu_line, 0, apo_cpu::finish_nothing);
}
inline void __threadfence() {
  apo_cpu::call_fence();
}
inline void __threadfence_block() {}
inline void __threadfence_system() {
  apo_cpu::call_fence();
}
inline void __nanosleep(unsigned) {
  apo_cpu::call_yield();
}
inline void __trap(APO_CPU_LINE) {
  apo_cpu::call_fail("trap", "__trap() was called", apo_cpu_line);
}
// Which lanes run together is for the hardware to choose; code that is right is so when each runs alone.
inline unsigned __activemask() {
  return 1u << apo_cpu::lane();
}

// The source lane of each kind of shuffle; out of its group of `width` lanes a lane keeps its own value.
template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, APO_CPU_LINE) {
  const unsigned lane = apo_cpu::lane(), first = lane & ~(width - 1u);
  return apo_cpu::shuffle("__shfl_sync", mask, apo_cpu_line, value, first + (source & (width - 1u)));
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, APO_CPU_LINE) {
  const unsigned lane = apo_cpu::lane(), first = lane & ~(width - 1u);
  return apo_cpu::shuffle("__shfl_up_sync", mask, apo_cpu_line, value, lane - first >= delta ? lane - delta : lane);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, APO_CPU_LINE) {
  const unsigned lane = apo_cpu::lane(), first = lane & ~(width - 1u);
  const bool inside = delta < static_cast<unsigned>(width) && lane - first + delta < static_cast<unsigned>(width);
  return apo_cpu::shuffle("__shfl_down_sync", mask, apo_cpu_line, value, inside ? lane + delta : lane);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, APO_CPU_LINE) {
  const unsigned lane = apo_cpu::lane(), end = (lane & ~(width - 1u)) + width;
  const unsigned source = lane ^ static_cast<unsigned>(lanes);
  return apo_cpu::shuffle("__shfl_xor_sync", mask, apo_cpu_line, value, source < end ? source : lane);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, APO_CPU_LINE) {
  return apo_cpu::word("__ballot_sync", mask, apo_cpu_line, predicate != 0, apo_cpu::finish_ballot);
}
inline int __any_sync(unsigned mask, int predicate, APO_CPU_LINE) {
  return apo_cpu::word("__any_sync", mask, apo_cpu_line, predicate != 0, apo_cpu::finish_or) != 0;
}
inline int __all_sync(unsigned mask, int predicate, APO_CPU_LINE) {
  return apo_cpu::word("__all_sync", mask, apo_cpu_line, predicate != 0, apo_cpu::finish_and) != 0;
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, APO_CPU_LINE) {
  apo_cpu::Collective c = apo_cpu::collective("__match_any_sync", mask, apo_cpu_line, value, apo_cpu::finish_match);
  return static_cast<unsigned>(apo_cpu::meet<apo_cpu::Address>(c));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all, APO_CPU_LINE) {
  apo_cpu::Collective c = apo_cpu::collective("__match_all_sync", mask, apo_cpu_line, value, apo_cpu::finish_match);
  const auto equal = static_cast<unsigned>(apo_cpu::meet<apo_cpu::Address>(c));
  *all = equal == mask;
  return *all != 0 ? mask : 0;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value, APO_CPU_LINE) {
  return apo_cpu::word("__reduce_add_sync", mask, apo_cpu_line, value, apo_cpu::finish_add);
}
inline int __reduce_add_sync(unsigned mask, int value, APO_CPU_LINE) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value), apo_cpu_line));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, APO_CPU_LINE) {
  return apo_cpu::word("__reduce_and_sync", mask, apo_cpu_line, value, apo_cpu::finish_and);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, APO_CPU_LINE) {
  return apo_cpu::word("__reduce_or_sync", mask, apo_cpu_line, value, apo_cpu::finish_or);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, APO_CPU_LINE) {
  return apo_cpu::word("__reduce_xor_sync", mask, apo_cpu_line, value, apo_cpu::finish_xor);
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value, APO_CPU_LINE) {
  return apo_cpu::word("__reduce_min_sync", mask, apo_cpu_line, value, apo_cpu::finish_extreme<true, unsigned>);
}
inline int __reduce_min_sync(unsigned mask, int value, APO_CPU_LINE) {
  return static_cast<int>(apo_cpu::word("__reduce_min_sync", mask, apo_cpu_line, static_cast<unsigned>(value),
                                        apo_cpu::finish_extreme<true, int>));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value, APO_CPU_LINE) {
  return apo_cpu::word("__reduce_max_sync", mask, apo_cpu_line, value, apo_cpu::finish_extreme<false, unsigned>);
}
inline int __reduce_max_sync(unsigned mask, int value, APO_CPU_LINE) {
  return static_cast<int>(apo_cpu::word("__reduce_max_sync", mask, apo_cpu_line, static_cast<unsigned>(value),
                                        apo_cpu::finish_extreme<false, int>));
}
#undef APO_CPU_LINE
