// apo:family    spin
// apo:idea      work of an exactly known length, to try the judge itself on ('apo selftest')
// apo:axis      n 1..2147483648 chains
// apo:axis      steps 1..1099511627776 steps of each chain
// apo:input     x f32[n] uniform(1,16777215)
// apo:output    y f32[n]
// apo:unit      n/256
// apo:regimes   typical
// apo:class     one n == 1
// apo:class     many n > 1
// apo:workload  s5k         production n=1 steps=5000
// apo:workload  s50k        production n=1 steps=50000
// apo:workload  s500k       production n=1 steps=500000
// apo:workload  s5m         extreme    n=1 steps=5000000
// apo:workload  n16k_s1k    production cuda n=16384 steps=1000
// apo:workload  n16k_s8k    production cuda n=16384 steps=8000
// apo:workload  n16k_s80k   production cuda n=16384 steps=80000
// apo:workload  n16k_s800k  extreme    cuda n=16384 steps=800000
// apo:workload  n256_s16    small      n=256 steps=16
// apo:workload  n301_s7     ragged     n=301 steps=7
//
// y[i] is the state of a generator after `steps` steps from the whole part of x[i]. A step of xorshift32 (Marsaglia
// 2003) is six operations that each wait for the one before, so that a call takes the same time for each step,
// whatever the compiler or the caches do: 2 ns on a CPU of 3 GHz, 13 ns on a GPU of 2 GHz, and the workloads about 10
// us, 100 us, 1 ms and 10 ms. The step is linear over bits: the reference applies the matrix of all steps at once,
// which it gets by squaring, so that a long chain costs nothing to check. No state but 0, which is never drawn, leads
// to 0. The upper 24 bits of the state are exact in f32, whatever the type of the reference: every element has to be
// equal.

// Column b is what the map makes of a state whose only set bit is b.
using BitMatrix = std::vector<uint32_t>;

inline uint32_t step(uint32_t state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^ state << 5;
}

inline uint32_t applied(const BitMatrix& map, uint32_t state) {
  uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit)
    result ^= (state >> bit & 1) != 0 ? map[bit] : 0;
  return result;
}

inline BitMatrix after(const BitMatrix& first, const BitMatrix& second) {
  BitMatrix both;
  for (const uint32_t column : first)
    both.push_back(applied(second, column));
  return both;
}

template <class Real>
void reference(int64_t n, int64_t steps, const Real* x, Real* y) {
  BitMatrix power, all;
  for (int bit = 0; bit < 32; ++bit) {
    all.push_back(uint32_t(1) << bit);
    power.push_back(step(all[bit]));
  }
  for (; steps > 0; steps /= 2, power = after(power, power))
    all = steps % 2 == 1 ? after(all, power) : all;
  for (int64_t i = 0; i < n; ++i)
    y[i] = Real(applied(all, static_cast<uint32_t>(x[i])) >> 8);
}
