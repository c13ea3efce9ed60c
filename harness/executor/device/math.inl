// harness/executor/device/math.inl - device math: exact where the GPU approximates, so tolerances judge the GPU's own
// error only on a GPU. Declared here instead of by <cmath>, which would take longer to parse than a variant.

using size_t = decltype(sizeof 0);

// The last semicolon of each is the caller's.
#define APO_CPU_MATH1(NAME)                \
  extern "C" double NAME(double) noexcept; \
  extern "C" float NAME##f(float) noexcept
#define APO_CPU_MATH2(NAME)                        \
  extern "C" double NAME(double, double) noexcept; \
  extern "C" float NAME##f(float, float) noexcept
#define APO_CPU_OVERLOAD1(NAME)                                            \
  inline float NAME(float x) {                                             \
    return NAME##f(x);                                                     \
  }                                                                        \
  inline long double NAME(long double x) { /* for <random> in host code */ \
    return __builtin_##NAME##l(x);                                         \
  }                                                                        \
  template <class Integer, class = decltype(Integer{} % 1)>                \
  double NAME(Integer x) {                                                 \
    return NAME(static_cast<double>(x));                                   \
  }                                                                        \
  static_assert(true)
APO_CPU_MATH1(acos);
APO_CPU_MATH1(acosh);
APO_CPU_MATH1(asin);
APO_CPU_MATH1(asinh);
APO_CPU_MATH1(atan);
APO_CPU_MATH1(atanh);
APO_CPU_MATH1(cbrt);
APO_CPU_MATH1(ceil);
APO_CPU_MATH1(cos);
APO_CPU_MATH1(cosh);
APO_CPU_MATH1(erf);
APO_CPU_MATH1(erfc);
APO_CPU_MATH1(exp);
APO_CPU_MATH1(exp2);
APO_CPU_MATH1(exp10);
APO_CPU_MATH1(expm1);
APO_CPU_MATH1(fabs);
APO_CPU_MATH1(floor);
APO_CPU_MATH1(lgamma);
APO_CPU_MATH1(log);
APO_CPU_MATH1(log10);
APO_CPU_MATH1(log1p);
APO_CPU_MATH1(log2);
APO_CPU_MATH1(nearbyint);
APO_CPU_MATH1(rint);
APO_CPU_MATH1(round);
APO_CPU_MATH1(sin);
APO_CPU_MATH1(sinh);
APO_CPU_MATH1(sqrt);
APO_CPU_MATH1(tan);
APO_CPU_MATH1(tanh);
APO_CPU_MATH1(tgamma);
APO_CPU_MATH1(trunc);
APO_CPU_MATH2(atan2);
APO_CPU_MATH2(copysign);
APO_CPU_MATH2(fdim);
APO_CPU_MATH2(fmax);
APO_CPU_MATH2(fmin);
APO_CPU_MATH2(fmod);
APO_CPU_MATH2(hypot);
APO_CPU_MATH2(nextafter);
APO_CPU_MATH2(pow);
APO_CPU_MATH2(remainder);
APO_CPU_OVERLOAD1(ceil);
APO_CPU_OVERLOAD1(cos);
APO_CPU_OVERLOAD1(exp);
APO_CPU_OVERLOAD1(exp2);
APO_CPU_OVERLOAD1(fabs);
APO_CPU_OVERLOAD1(floor);
APO_CPU_OVERLOAD1(log);
APO_CPU_OVERLOAD1(log2);
APO_CPU_OVERLOAD1(rint);
APO_CPU_OVERLOAD1(round);
APO_CPU_OVERLOAD1(sin);
APO_CPU_OVERLOAD1(sqrt);
APO_CPU_OVERLOAD1(tanh);
APO_CPU_OVERLOAD1(trunc);
#undef APO_CPU_MATH1
#undef APO_CPU_MATH2
#undef APO_CPU_OVERLOAD1
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" int abs(int) noexcept;
inline float pow(float x, float y) {
  return powf(x, y);
}
inline float nextafter(float x, float y) {
  return nextafterf(x, y);
}
inline float fma(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline float abs(float x) {
  return fabsf(x);
}
inline double abs(double x) {
  return fabs(x);
}
inline long long abs(long long x) {
  return x < 0 ? -x : x;
}
inline bool isnan(float x) {
  return __builtin_isnan(x);
}
inline bool isnan(double x) {
  return __builtin_isnan(x);
}
inline bool isinf(float x) {
  return __builtin_isinf(x);
}
inline bool isinf(double x) {
  return __builtin_isinf(x);
}
inline bool isfinite(float x) {
  return __builtin_isfinite(x);
}
inline bool isfinite(double x) {
  return __builtin_isfinite(x);
}
inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
inline double rsqrt(double x) {
  return 1.0 / sqrt(x);
}
inline float rsqrt(float x) {
  return rsqrtf(x);
}
inline float rcbrtf(float x) {
  return 1.0f / cbrtf(x);
}
inline float sinpif(float x) {
  return static_cast<float>(sin(3.14159265358979323846 * x));
}
inline float cospif(float x) {
  return static_cast<float>(cos(3.14159265358979323846 * x));
}
inline void sincosf(float x, float* s, float* c) {
  *s = sinf(x), *c = cosf(x);
}
inline float normcdff(float x) {
  return 0.5f * erfcf(-x * 0.70710678118654752440f);
}
inline float __saturatef(float x) {
  return fminf(fmaxf(x, 0.0f), 1.0f);
}

// Fast and rounded forms.
inline float __expf(float x) {
  return expf(x);
}
inline float __exp10f(float x) {
  return exp10f(x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __log2f(float x) {
  return log2f(x);
}
inline float __log10f(float x) {
  return log10f(x);
}
inline float __sinf(float x) {
  return sinf(x);
}
inline float __cosf(float x) {
  return cosf(x);
}
inline float __tanf(float x) {
  return tanf(x);
}
inline float __powf(float x, float y) {
  return powf(x, y);
}
inline void __sincosf(float x, float* s, float* c) {
  sincosf(x, s, c);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float fdividef(float x, float y) {
  return x / y;
}
inline float __frcp_rn(float x) {
  return 1.0f / x;
}
inline float __fsqrt_rn(float x) {
  return sqrtf(x);
}
inline float __frsqrt_rn(float x) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}
inline float __fadd_rn(float x, float y) {
  return x + y;
}
inline float __fsub_rn(float x, float y) {
  return x - y;
}
inline float __fmul_rn(float x, float y) {
  return x * y;
}
inline float __fdiv_rn(float x, float y) {
  return x / y;
}
inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline float __fmaf_ieee_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}

// A copy of one type's bits as another's.
template <class To, class From>
inline To apo_cpu_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
inline unsigned __float_as_uint(float x) {
  return apo_cpu_bits<unsigned>(x);
}
inline int __float_as_int(float x) {
  return apo_cpu_bits<int>(x);
}
inline float __uint_as_float(unsigned x) {
  return apo_cpu_bits<float>(x);
}
inline float __int_as_float(int x) {
  return apo_cpu_bits<float>(x);
}
inline long long __double_as_longlong(double x) {
  return apo_cpu_bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return apo_cpu_bits<double>(x);
}
inline int __float2int_rn(float x) {
  return static_cast<int>(rintf(x));
}
inline int __float2int_rz(float x) {
  return static_cast<int>(x);
}
inline int __float2int_rd(float x) {
  return static_cast<int>(floorf(x));
}
inline int __float2int_ru(float x) {
  return static_cast<int>(ceilf(x));
}
inline unsigned __float2uint_rn(float x) {
  return static_cast<unsigned>(rintf(x));
}
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
  return static_cast<float>(x);
}

// Integers.
template <class A, class B>
constexpr auto min(A a, B b) -> decltype(a + b) {
  return a < b ? a : b;
}
template <class A, class B>
constexpr auto max(A a, B b) -> decltype(a + b) {
  return a < b ? b : a;
}
inline float min(float a, float b) {
  return fminf(a, b);
}
inline float max(float a, float b) {
  return fmaxf(a, b);
}
inline double min(double a, double b) {
  return fmin(a, b);
}
inline double max(double a, double b) {
  return fmax(a, b);
}
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) {
    result = result << 1 | (x >> i & 1);
  }
  return result;
}
inline int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
// Of the 24 lower bits.
inline unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
inline int __mul24(int a, int b) {
  return static_cast<int>(static_cast<long long>(a << 8 >> 8) * (b << 8 >> 8));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned pick = selector >> 4 * i & 0xf;
    unsigned byte = static_cast<unsigned>(both >> 8 * (pick & 7)) & 0xff;
    byte = (pick & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xff : 0;  // replicate the sign
    result |= byte << 8 * i;
  }
  return result;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  }
  return c;
}
