// kernels/oracle/program.h - the main function of a family's program: one request, answered in shared memory.
//
// The generated source includes the family file before this, and defines Functions.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>

#ifdef APO_MUTANTS
#include "kernels/oracle/mutant.h"
#endif
#include "kernels/oracle/number.h"
#include "kernels/oracle/request.h"
#include "kernels/parallel.h"

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

// In the outputs before a call: a NaN and an integer that no computation makes.
inline constexpr std::uint64_t kUnwrittenBits = 0x7ff8dead0beef001ull;
inline constexpr std::int64_t kUnwrittenInteger = -0x7dead0beef0001ll;

class Request {
 public:
  explicit Request(const char* path) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat status = {};
    if (file < 0 || fstat(file, &status) != 0) {
      std::perror(path);
      std::exit(2);
    }
    void* memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
      std::perror("mmap");
      std::exit(2);
    }
    base_ = static_cast<std::byte*>(memory);
    const std::byte* next = base_ + sizeof(Header);
    visit_words(contract_, [&](auto& value) {
      std::int64_t word = 0;
      std::memcpy(&word, next, sizeof word);
      next += sizeof word;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, double>) {
        value = std::bit_cast<double>(word);
      } else {
        value = static_cast<std::remove_cvref_t<decltype(value)>>(word);
      }
    });
  }
  Header& header() { return *reinterpret_cast<Header*>(base_); }
  const Contract& contract() const { return contract_; }
  std::span<double> values(std::size_t tensor) {
    const TensorShape& shape = contract_.tensors[tensor];
    return {reinterpret_cast<double*>(base_ + shape.offset), static_cast<std::size_t>(shape.elements())};
  }

 private:
  std::byte* base_ = nullptr;
  Contract contract_;
};

template <class Real>
double as_double(Real x) {
  return static_cast<double>(x);
}

// The part of the tensors that belongs to a unit, with outputs that are still unwritten.
template <class Real>
Call<Real> gather(Request& request, const Part& part) {
  const Contract& contract = request.contract();
  Call<Real> call{.axes = part.count, .scalars = {}, .reals = {}, .integers = {}};
  for (const double scalar : contract.scalars) {
    call.scalars.push_back(Real(scalar));
  }
  call.reals.resize(contract.tensors.size());
  call.integers.resize(contract.tensors.size());
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    const TensorShape& tensor = contract.tensors[t];
    const std::span<const double> values = request.values(t);
    const auto take = [&](auto& list, auto unwritten) {
      for_each_run(tensor, part, [&](std::int64_t offset, std::int64_t count) {
        for (std::int64_t i = offset; i < offset + count; ++i) {
          using Element = typename std::remove_reference_t<decltype(list)>::value_type;
          list.push_back(tensor.is_output ? unwritten : static_cast<Element>(values[static_cast<std::size_t>(i)]));
        }
      });
    };
    if (tensor.is_integer) {
      take(call.integers[t], kUnwrittenInteger);
      call.integers[t].shrink_to_fit();  // a sanitizer sees the end of the memory, not that of a vector
    } else {
      take(call.reals[t], Real(std::bit_cast<double>(kUnwrittenBits)));
      call.reals[t].shrink_to_fit();
    }
  }
  return call;
}

// Gives each element of the outputs to work(tensor, element of the whole tensor, value as double, is it unwritten).
template <class Real, class Work>
void for_each_output(const Contract& contract, const Part& part, const Call<Real>& call, Work work) {
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    if (!contract.tensors[t].is_output || !belongs(contract.tensors[t], part)) {
      continue;
    }
    std::size_t next = 0;
    for_each_run(contract.tensors[t], part, [&](std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = offset; i < offset + count; ++i, ++next) {
        if (contract.tensors[t].is_integer) {
          const std::int64_t value = call.integers[t][next];
          work(t, i, static_cast<double>(value), value == kUnwrittenInteger);
        } else {
          const double value = as_double(call.reals[t][next]);
          work(t, i, value, std::bit_cast<std::uint64_t>(value) == kUnwrittenBits);
        }
      }
    });
  }
}

// Only the first failure is kept; threads that come later lose.
inline void fail(Header& header, Status status, std::size_t tensor, std::int64_t element, double value,
                 const char* message = "") {
  static std::atomic_flag failed;
  if (!failed.test_and_set()) {
    std::snprintf(header.answer.message, kMessageBytes, "%s", message);
    header.answer.tensor = static_cast<std::int64_t>(tensor);
    header.answer.element = element;
    header.answer.value = value;
    header.answer.status = status;
  }
}

// What a unit throws becomes the answer; the other units are still computed.
template <class Work>
void for_each_requested_unit(Request& request, Work work) {
  for_each_unit(request.contract().units, static_cast<int>(request.header().threads), [&](std::int64_t unit) {
    try {
      work(unit, part_of(request.contract(), unit));
    } catch (const std::exception& error) {
      fail(request.header(), Status::threw, 0, unit, 0, error.what());
    }
  });
}

template <class Functions, class Real>
void compute(Request& request) {
  const Contract& contract = request.contract();
  for_each_requested_unit(request, [&](std::int64_t, const Part& part) {
    Call<Real> call = gather<Real>(request, part);
    Functions::template reference<Real>(call);
    for_each_output(contract, part, call, [&](std::size_t tensor, std::int64_t element, double value, bool unwritten) {
      if (unwritten || !std::isfinite(value)) {
        fail(request.header(), unwritten ? Status::unwritten : Status::not_finite, tensor, element, value);
      }
      request.values(tensor)[static_cast<std::size_t>(element)] = value;
    });
  });
}

// The root mean square of what the samples are off from the values in the output arrays, which the caller has put
// there: the expected ones. Rounding at random does not see that sums of equal terms are all rounded one way; half the
// error of the honest version, where that is more, does. An integer that any sample decides otherwise gets infinity, as
// it may be either.
template <class Functions, class Real>
void estimate_noise(Request& request) {
  const Contract& contract = request.contract();
  for_each_requested_unit(request, [&](std::int64_t unit, const Part& part) {
    std::vector<double> squares;
    for (std::int64_t sample = 0; sample < request.header().samples; ++sample) {
      random_state = derive_seed(request.header().seed, "sample", static_cast<std::uint64_t>(sample)) ^
                     mix64(static_cast<std::uint64_t>(unit));
      Call<Real> call = gather<Real>(request, part);
      Functions::template reference<Real>(call);
      std::size_t next = 0;
      for_each_output(contract, part, call, [&](std::size_t tensor, std::int64_t element, double value, bool) {
        squares.resize(std::max(squares.size(), next + 1));
        const double error = value - request.values(tensor)[static_cast<std::size_t>(element)];
        squares[next++] += contract.tensors[tensor].is_integer
                               ? (error == 0 ? 0 : std::numeric_limits<double>::infinity())
                               : error * error;
      });
    }
    using Honest = typename Functions::Honest;
    Call<Honest> honest = gather<Honest>(request, part);
    Functions::template reference<Honest>(honest);
    std::size_t next = 0;
    for_each_output(contract, part, honest, [&](std::size_t tensor, std::int64_t element, double value, bool) {
      double& expected = request.values(tensor)[static_cast<std::size_t>(element)];
      const double sigma = std::sqrt(squares[next++] / static_cast<double>(request.header().samples));
      const double own = contract.tensors[tensor].is_integer ? 0 : std::fabs(value - expected) / 2;
      expected = own > sigma && std::isfinite(own) ? own : sigma;
    });
  });
}

// The work of the units together.
template <class Functions>
void count_work(Request& request) {
  counts = {};
  for (const std::int64_t unit : request.contract().units) {
    Call<Counted> call = gather<Counted>(request, part_of(request.contract(), unit));
    Functions::template reference<Counted>(call);
  }
  Answer& answer = request.header().answer;
  answer.flops = counts.flops;
  answer.special_chain = counts.longest_special_chain;
  std::size_t next = 0;
  for (const auto& [name, count] : counts.special) {
    if (next < kMostSpecials) {
      std::snprintf(answer.specials[next].name, sizeof answer.specials[next].name, "%s", name.c_str());
      answer.specials[next++].count = count;
    }
  }
}

// The whole of the tensors, in one call.
template <class Functions>
void fill_or_derive(Request& request) {
  const Contract& contract = request.contract();
  const Part all{.group = 0, .first = std::vector<std::int64_t>(contract.axes.size()), .count = contract.axes};
  Call<double> call = gather<double>(request, all);
  const auto filled = std::ranges::find(contract.tensors, true, &TensorShape::is_output);
  call.filled = filled - contract.tensors.begin();
  if (request.header().mode == Mode::fill) {
    Functions::fill(call, request.header().seed);
  } else {
    Functions::derive(call);
  }
  for_each_output(contract, all, call, [&](std::size_t tensor, std::int64_t element, double value, bool unwritten) {
    if (unwritten || !std::isfinite(value)) {
      fail(request.header(), unwritten ? Status::unwritten : Status::not_finite, tensor, element, value);
    }
    request.values(tensor)[static_cast<std::size_t>(element)] = value;
  });
}

#ifdef APO_MUTANTS
// In each unit one addition goes wrong; which, the seed says.
template <class Functions, Mistake kMistake>
void compute_wrongly(Request& request) {
  const Contract& contract = request.contract();
  for_each_requested_unit(request, [&](std::int64_t unit, const Part& part) {
    const std::uint64_t drawn = mix64(request.header().seed ^ mix64(static_cast<std::uint64_t>(unit)));
    Call<Mistaken<kMistake>> call;
    for (const bool counting : {true, false}) {
      call = gather<Mistaken<kMistake>>(request, part);
      wrong_addition =
          counting || additions == 0 ? -1 : static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(additions));
      additions = 0;
      Functions::template reference<Mistaken<kMistake>>(call);
    }
    for_each_output(contract, part, call, [&](std::size_t tensor, std::int64_t element, double value, bool) {
      request.values(tensor)[static_cast<std::size_t>(element)] = value;
    });
  });
}
#endif

// Each program answers the questions that it is built for: the reference's types are what compiling it takes.
template <class Functions>
void answer(Request& request) {
  switch (request.header().mode) {
#ifndef APO_MUTANTS
    case Mode::reference:
      return compute<Functions, typename Functions::Exact>(request);
#endif
#if !defined(APO_MUTANTS) && !defined(APO_REFERENCE_ONLY)
    case Mode::honest:
      return compute<Functions, typename Functions::Honest>(request);
    case Mode::noise:
      return estimate_noise<Functions, typename Functions::Noisy>(request);
    case Mode::count:
      return count_work<Functions>(request);
    case Mode::fill:
    case Mode::derive:
      return fill_or_derive<Functions>(request);
#endif
#ifdef APO_MUTANTS
    case Mode::bf16_sums:
      return compute_wrongly<Functions, Mistake::bf16_sums>(request);
    case Mode::dropped_term:
      return compute_wrongly<Functions, Mistake::dropped_term>(request);
    case Mode::wrong_sign:
      return compute_wrongly<Functions, Mistake::wrong_sign>(request);
#endif
    default:
      std::exit(2);
  }
}

template <class Functions>
int run(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 2) {
    return 2;
  }
  Request request(argv[1]);
  try {
    answer<Functions>(request);
    if (request.header().answer.status == Status::unfinished) {
      request.header().answer.status = Status::done;
    }
  } catch (const std::exception& error) {
    fail(request.header(), Status::threw, 0, 0, 0, error.what());
  }
  return 0;
}

}  // namespace apo::oracle
