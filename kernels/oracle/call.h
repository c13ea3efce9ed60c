// kernels/oracle/call.h - a family's functions as its program calls them: with inputs as they are stored, and results
// that are doubles.
//
// The generated source includes the family file before this, and defines Functions. The rest of the program, program.h,
// is compiled once for all families.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef APO_MUTANTS
#include "kernels/oracle/mutant.h"
#endif
#include "kernels/oracle/number.h"
#include "kernels/oracle/stored.h"

namespace apo::oracle {

// In the outputs before a call: a NaN and an integer that no computation makes.
inline constexpr std::uint64_t kUnwrittenBits = 0x7ff8dead0beef001ull;
inline constexpr std::int64_t kUnwrittenInteger = -0x7dead0beef0001ll;

// What the functions get of one tensor.
struct Given {
  StoredPart part;  // of an output that the function changes, what it holds before; else of an output only its size
  bool is_output = false;
  bool is_unwritten = false;
  bool is_integer = false;
};

// The arguments of one call, whatever the number type; integers are int64_t whatever their dtype.
struct Arguments {
  std::vector<std::int64_t> axes;
  std::vector<double> scalars;
  std::vector<Given> tensors;
  std::int64_t filled = -1;  // fill: which tensor
};

// The outputs of a call, by tensor; empty for the others.
struct Results {
  std::vector<std::vector<double>> reals;
  std::vector<std::vector<std::int64_t>> integers;
};

// The arguments of one call of the family's function over Real.
template <class Real>
struct Call {
  std::vector<std::int64_t> axes;
  std::vector<Real> scalars;
  std::vector<Numbers<Real>> reals;             // by tensor; empty where it is one of integers
  std::vector<Numbers<std::int64_t>> integers;  // the others
  std::int64_t filled = -1;

  explicit Call(const Arguments& given)
      : axes(given.axes),
        scalars(given.scalars.begin(), given.scalars.end()),
        reals(given.tensors.size()),
        integers(given.tensors.size()),
        filled(given.filled) {
    for (std::size_t t = 0; t < given.tensors.size(); ++t) {
      const Given& tensor = given.tensors[t];
      if (tensor.is_integer) {
        integers[t] = numbers<std::int64_t>(tensor, kUnwrittenInteger);
      } else {
        reals[t] = numbers<Real>(tensor, static_cast<Real>(std::bit_cast<double>(kUnwrittenBits)));
      }
    }
  }

  Results results(const Arguments& given) const {
    Results all{.reals = std::vector<std::vector<double>>(reals.size()),
                .integers = std::vector<std::vector<std::int64_t>>(reals.size())};
    for (std::size_t t = 0; t < reals.size(); ++t) {
      if (given.tensors[t].is_output) {
        all.integers[t] = integers[t].written();
        all.reals[t].reserve(reals[t].written().size());
        for (const Real& x : reals[t].written()) {
          all.reals[t].push_back(static_cast<double>(x));
        }
      }
    }
    return all;
  }

 private:
  template <class T>
  static Numbers<T> numbers(const Given& tensor, T unwritten) {
    return tensor.is_unwritten ? Numbers<T>(static_cast<std::size_t>(tensor.part.count()), unwritten)
                               : Numbers<T>(tensor.part, tensor.is_output);
  }
};

// A reference over one number type.
using Reference = Results (*)(const Arguments&);

template <class Functions, class Real>
Results refer(const Arguments& given) {
  draws.count = 0;
  Call<Real> call(given);
  Functions::template reference<Real>(call);
  return call.results(given);
}
template <class Functions>
Results fill(const Arguments& given, std::uint64_t seed) {
  Call<double> call(given);
  Functions::fill(call, seed);
  return call.results(given);
}
template <class Functions>
Results derive(const Arguments& given) {
  Call<double> call(given);
  Functions::derive(call);
  return call.results(given);
}

// What the program answers; a null pointer for what it was not built for, as the number types are what compiling takes.
struct Program {
  Reference exact = nullptr;
  Reference honest = nullptr;
  Reference noisy = nullptr;
  Reference counted = nullptr;
  Results (*fill)(const Arguments&, std::uint64_t seed) = nullptr;
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
  made.fill = fill<Functions>;
  made.derive = derive<Functions>;
#endif
#endif
  return made;
}

}  // namespace apo::oracle
