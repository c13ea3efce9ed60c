// kernels/oracle/call.h - a family's functions as its program calls them: with values that are doubles.
//
// The generated source includes the family file before this, and defines Functions. The rest of the program, program.h,
// is compiled once for all families.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef APO_MUTANTS
#include "kernels/oracle/mutant.h"
#endif
#include "kernels/oracle/number.h"

namespace apo::oracle {

// The arguments of one call of the family's function over Real; integers are int64_t whatever their dtype.
template <class Real>
struct Call {
  std::vector<std::int64_t> axes;
  std::vector<Real> scalars;
  std::vector<std::vector<Real>> reals;             // by tensor; empty where it is one of integers
  std::vector<std::vector<std::int64_t>> integers;  // the others
  std::int64_t filled = -1;                         // fill: which tensor
};

// A reference over one number type, called with values that are doubles before and after it.
using Reference = void (*)(Call<double>&);

template <class Functions, class Real>
void refer(Call<double>& call) {
  draws.count = 0;
  if constexpr (std::is_same_v<Real, double>) {
    Functions::template reference<double>(call);
  } else {
    Call<Real> own{.axes = call.axes, .scalars = {}, .reals = {}, .integers = std::move(call.integers)};
    own.scalars.assign(call.scalars.begin(), call.scalars.end());
    for (const std::vector<double>& values : call.reals) {
      own.reals.emplace_back(values.begin(), values.end());
      if constexpr (kIsPerturbed<Real>) {
        std::ranges::transform(values, own.reals.back().begin(), Real::given);
      }
    }
    Functions::template reference<Real>(own);
    call.integers = std::move(own.integers);
    for (std::size_t t = 0; t < call.reals.size(); ++t) {
      std::ranges::transform(own.reals[t], call.reals[t].begin(), [](const Real& x) { return static_cast<double>(x); });
    }
  }
}

// What the program answers; a null pointer for what it was not built for, as the number types are what compiling takes.
struct Program {
  Reference exact = nullptr;
  Reference honest = nullptr;
  Reference noisy = nullptr;
  Reference counted = nullptr;
  void (*fill)(Call<double>&, std::uint64_t seed) = nullptr;
  Reference derive = nullptr;
  Reference mistaken[3] = {};  // by Mistake
};
extern const Program program;

template <class Functions>
constexpr Program program_of() {
  Program made;
#ifdef APO_MUTANTS
  made.mistaken[0] = refer<Functions, Mistaken<Mistake::bf16_sums>>;
  made.mistaken[1] = refer<Functions, Mistaken<Mistake::dropped_term>>;
  made.mistaken[2] = refer<Functions, Mistaken<Mistake::wrong_sign>>;
#else
  made.exact = refer<Functions, typename Functions::Exact>;
#ifndef APO_REFERENCE_ONLY
  made.honest = refer<Functions, typename Functions::Honest>;
  made.noisy = refer<Functions, typename Functions::Noisy>;
  made.counted = refer<Functions, Counted>;
  made.fill = Functions::fill;
  made.derive = Functions::derive;
#endif
#endif
  return made;
}

}  // namespace apo::oracle
