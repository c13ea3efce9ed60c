// kernels/oracle/call.h - a family's functions as its program calls them: whatever the number type, by addresses.
//
// The generated source includes the family file before this, and defines Functions. The rest of the program, program.h,
// is compiled once for all families.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#ifdef APO_MUTANTS
#include "kernels/oracle/mutant.h"
#endif
#include "kernels/oracle/number.h"

namespace apo::oracle {

// The arguments of one call; integers are int64_t whatever their dtype.
struct Call {
  std::vector<std::int64_t> axes;
  std::vector<double> scalars;
  std::vector<void*> tensors;  // of the call's number type
  std::int64_t filled = -1;    // fill: which tensor

  template <class T>
  T* numbers(std::size_t tensor) {
    return static_cast<T*>(tensors[tensor]);
  }
  template <class T>
  const T* given(std::size_t tensor) const {
    return static_cast<const T*>(tensors[tensor]);
  }
};

struct NumberType {
  std::int64_t bytes = 0;
  void (*from_doubles)(const double* from, std::int64_t count, void* to) = nullptr;
  void (*to_doubles)(const void* from, std::int64_t count, double* to) = nullptr;
};

template <class Real>
void from_doubles(const double* from, std::int64_t count, void* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (kIsPerturbed<Real>) {
      static_cast<Real*>(to)[i] = Real::given(from[i]);
    } else {
      static_cast<Real*>(to)[i] = static_cast<Real>(from[i]);
    }
  }
}
template <class Real>
void to_doubles(const void* from, std::int64_t count, double* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<double>(static_cast<const Real*>(from)[i]);
  }
}

// A reference over one number type.
struct Version {
  void (*reference)(Call&) = nullptr;
  NumberType type;
};

template <class Functions, class Real>
constexpr Version version_of() {
  static_assert((sizeof(Real) & (sizeof(Real) - 1)) == 0, "a stretch of a large tensor holds whole numbers");
  return {.reference = [](Call& call) { Functions::template reference<Real>(call); },
          .type = {.bytes = sizeof(Real), .from_doubles = from_doubles<Real>, .to_doubles = to_doubles<Real>}};
}

// What the program answers; null pointers for what it was not built for, as the number types are what compiling takes.
struct Program {
  Version exact;
  Version honest;
  Version noisy;
  Version counted;
  void (*fill)(Call&, std::uint64_t seed) = nullptr;
  void (*derive)(Call&) = nullptr;
  Version mistaken[3];          // by Mistake
  bool converts_first = false;  // each tensor as a whole, so that a sanitizer sees the end of its memory
};
extern const Program program;

template <class Functions>
constexpr Program program_of() {
  Program made;
#ifdef APO_MUTANTS
  made.mistaken[0] = version_of<Functions, Mistaken<Mistake::bf16_sums>>();
  made.mistaken[1] = version_of<Functions, Mistaken<Mistake::dropped_term>>();
  made.mistaken[2] = version_of<Functions, Mistaken<Mistake::wrong_sign>>();
#else
  made.exact = version_of<Functions, typename Functions::Exact>();
#ifdef APO_REFERENCE_ONLY
  made.converts_first = true;
#else
  made.honest = version_of<Functions, typename Functions::Honest>();
  made.noisy = version_of<Functions, typename Functions::Noisy>();
  made.counted = version_of<Functions, Counted>();
  made.fill = Functions::fill;
  made.derive = Functions::derive;
#endif
#endif
  return made;
}

}  // namespace apo::oracle
