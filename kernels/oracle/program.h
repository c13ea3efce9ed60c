// kernels/oracle/program.h - the main function of a family's program: one request, answered in shared memory.
//
// Compiled once and linked to the generated source of each family, which defines `program`.
#pragma once

#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <span>

#include "kernels/oracle/call.h"
#include "kernels/oracle/confinement.h"
#include "kernels/oracle/mutant.h"
#include "kernels/oracle/request.h"
#include "kernels/parallel.h"

namespace apo::oracle {

// In the outputs before a call: a NaN and an integer that no computation makes.
inline constexpr std::uint64_t kUnwrittenBits = 0x7ff8dead0beef001ull;
inline constexpr std::int64_t kUnwrittenInteger = -0x7dead0beef0001ll;

class Request {
 public:
  explicit Request(int file) {
    struct stat status = {};
    if (file < 0 || fstat(file, &status) != 0) {
      std::perror("the request");
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
  // Of an output: the second array. Where only the noise is asked for, it takes the place of the expected values.
  std::span<double> noise(std::size_t tensor) {
    const std::span<double> all = values(tensor);
    return has_two_arrays(header().mode) ? std::span(all.data() + all.size(), all.size()) : all;
  }

 private:
  std::byte* base_ = nullptr;
  Contract contract_;
};

// The part of the tensors that belongs to a unit, with outputs as they are before the call.
inline Call<double> gather(Request& request, const Part& part) {
  const Contract& contract = request.contract();
  Call<double> call{.axes = part.count, .scalars = contract.scalars, .reals = {}, .integers = {}};
  call.reals.resize(contract.tensors.size());
  call.integers.resize(contract.tensors.size());
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    const TensorShape& tensor = contract.tensors[t];
    const bool unwritten = tensor.is_output && tensor.before < 0;
    const std::span<const double> values =
        request.values(tensor.before < 0 ? t : static_cast<std::size_t>(tensor.before));
    for_each_run(tensor, part, [&](std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = offset; i < offset + count; ++i) {
        const double value = values[static_cast<std::size_t>(i)];
        if (tensor.is_integer) {
          call.integers[t].push_back(unwritten ? kUnwrittenInteger : static_cast<std::int64_t>(value));
        } else {
          call.reals[t].push_back(unwritten ? std::bit_cast<double>(kUnwrittenBits) : value);
        }
      }
    });
    call.integers[t].shrink_to_fit();  // a sanitizer sees the end of the memory, not that of a vector
    call.reals[t].shrink_to_fit();
  }
  return call;
}

// On one element of an output: tensor, element of the whole tensor, value as double, is it unwritten.
using OutputWork = std::function<void(std::size_t, std::int64_t, double, bool)>;
inline void for_each_output(const Contract& contract, const Part& part, const Call<double>& call,
                            const OutputWork& work) {
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
          const double value = call.reals[t][next];
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

inline void note_alternatives(Answer& answer, std::size_t most) {
  std::atomic_ref<std::int64_t> noted(answer.alternatives);
  for (std::int64_t known = noted; known < static_cast<std::int64_t>(most);) {
    if (noted.compare_exchange_weak(known, static_cast<std::int64_t>(most))) {
      return;
    }
  }
}

// What a unit throws becomes the answer; the other units are still computed.
inline void for_each_requested_unit(Request& request, const std::function<void(std::int64_t, const Part&)>& work) {
  const std::int64_t chosen = request.header().chosen;
  for_each_unit(request.contract().units, static_cast<int>(request.header().threads), [&](std::int64_t unit) {
    try {
      draws = {.taking = chosen < 0 ? Taking::by_chance : Taking::one,
               .which = chosen,
               .seed = mix64(static_cast<std::uint64_t>(unit))};
      work(unit, part_of(request.contract(), unit));
      note_alternatives(request.header().answer, draws.most);
    } catch (const std::exception& error) {
      fail(request.header(), Status::threw, 0, unit, 0, error.what());
    }
  });
}

inline bool is_allowed(Request& request, double value) {
  return std::isfinite(value) || request.header().allows_not_finite != 0;
}

inline void compute(Request& request, Reference reference) {
  const Contract& contract = request.contract();
  for_each_requested_unit(request, [&](std::int64_t, const Part& part) {
    Call<double> call = gather(request, part);
    reference(call);
    for_each_output(contract, part, call, [&](std::size_t tensor, std::int64_t element, double value, bool unwritten) {
      if (unwritten || !is_allowed(request, value)) {
        fail(request.header(), unwritten ? Status::unwritten : Status::not_finite, tensor, element, value);
      }
      request.values(tensor)[static_cast<std::size_t>(element)] = value;
    });
  });
}

// The values of all outputs of a part, in the order of for_each_output().
inline std::vector<double> output_values(const Contract& contract, const Part& part, const Call<double>& call) {
  std::vector<double> values;
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    if (contract.tensors[t].is_output && belongs(contract.tensors[t], part)) {
      values.insert(values.end(), call.reals[t].begin(), call.reals[t].end());
      values.insert(values.end(), call.integers[t].begin(), call.integers[t].end());
    }
  }
  return values;
}

inline constexpr double kUndecided = std::numeric_limits<double>::infinity();

// An element of an output, where its expected value stands and its noise goes.
struct Place {
  double* value;
  std::size_t tensor;
  std::int64_t element;
  bool is_integer;
  double expected;
};

inline std::vector<Place> places_of(Request& request, const Part& part, const Call<double>& given) {
  std::vector<Place> places;  // they may lie far apart
  for_each_output(request.contract(), part, given, [&](std::size_t tensor, std::int64_t element, double, bool) {
    const auto at = static_cast<std::size_t>(element);
    places.push_back({&request.noise(tensor)[at], tensor, element, request.contract().tensors[tensor].is_integer,
                      request.values(tensor)[at]});
  });
  return places;
}

// By how much an output is off. What is NaN or infinite by the contract is not; an integer is equal or undecided.
inline double error_at(const Place& place, double value) {
  const double error = std::fabs(value - place.expected);
  return place.is_integer ? (error == 0 ? 0 : kUndecided) : std::isfinite(error) ? error : 0;
}

// The errors of all samples.
struct Errors {
  std::vector<double> squares;               // their sum at each place
  std::vector<std::vector<double>> samples;  // each error of a sample, at the first places
};

inline Errors sampled_errors(Request& request, Reference noisy, std::int64_t unit, const Part& part,
                             const Call<double>& given, const std::vector<Place>& places) {
  constexpr std::size_t kKept = 1 << 15;  // enough to tell whether they are independent
  Errors errors{.squares = std::vector<double>(places.size()), .samples = {}};
  for (std::int64_t sample = 0; sample < request.header().samples; ++sample) {
    random_state = derive_seed(request.header().seed, "sample", static_cast<std::uint64_t>(sample)) ^
                   mix64(static_cast<std::uint64_t>(unit));
    Call<double> call = given;
    noisy(call);
    std::vector<double> values = output_values(request.contract(), part, call);
    for (std::size_t i = 0; i < places.size(); ++i) {
      values[i] = error_at(places[i], values[i]);
      errors.squares[i] += values[i] * values[i];
    }
    values.resize(std::min(values.size(), kKept));
    errors.samples.push_back(std::move(values));
  }
  return errors;
}

// By how much the limit of a root mean square over independent errors, 2.2 + 3 / sqrt(n), has to grow where they are
// not: where all of a unit is off together, as by the error of its mean. Of n independent errors the mean of the
// squares varies by 2/n from sample to sample: what it varies by tells how many are independent, at least one: then the
// limit is that of an element, 16.
inline double growth_of_common_errors(const std::vector<std::size_t>& elements, const std::vector<Place>& places,
                                      const Errors& errors) {
  const auto samples = static_cast<double>(errors.samples.size());
  const auto count = static_cast<double>(elements.size());
  double sum = 0;
  double sum_of_squares = 0;
  for (const std::vector<double>& sample : errors.samples) {
    double mean = 0;
    for (const std::size_t i : elements) {
      const double part = sample[i] / *places[i].value;
      mean += part * part / count;
    }
    sum += mean;
    sum_of_squares += mean * mean;
  }
  const double variance = sum_of_squares / samples - sum / samples * sum / samples;
  const double independent = variance > 2 / count ? std::max(2 / variance, 1.0) : count;
  const auto limit = [](double n) { return std::max(2.2 + 3 / std::sqrt(n), 2.2 + 13.8 / n); };
  return limit(independent) / limit(count);
}

inline void widen_common_errors(const Contract& contract, const std::vector<Place>& places, const Errors& errors) {
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    std::vector<std::size_t> noisy;
    for (std::size_t i = 0; i < errors.samples.front().size(); ++i) {
      if (places[i].tensor == t && !places[i].is_integer && *places[i].value > 0) {
        noisy.push_back(i);
      }
    }
    const double growth = noisy.size() < 2 ? 1 : growth_of_common_errors(noisy, places, errors);
    for (const Place& place : places) {
      *place.value *= place.tensor == t ? growth : 1;
    }
  }
}

// The root mean square of what the samples are off from the values in the output arrays, which are the expected ones.
// Rounding at random does not see that sums of equal terms are all rounded one way; half the error of the honest
// version, where that is more, does. An integer that a sample or the honest version decides otherwise gets infinity, as
// it may be either.
inline void estimate_noise(Request& request, Reference noisy, Reference honest) {
  perturbed_alone = request.header().alone;
  for_each_requested_unit(request, [&](std::int64_t unit, const Part& part) {
    const Call<double> given = gather(request, part);
    const std::vector<Place> places = places_of(request, part, given);
    const Errors errors = sampled_errors(request, noisy, unit, part, given, places);
    for (std::size_t i = 0; i < places.size(); ++i) {
      *places[i].value = std::sqrt(errors.squares[i] / static_cast<double>(request.header().samples));
    }
    widen_common_errors(request.contract(), places, errors);
    if (perturbed_alone[0] != '\0') {
      return;
    }
    Call<double> call = given;
    honest(call);
    const std::vector<double> values = output_values(request.contract(), part, call);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Place& place = places[i];
      if (std::isfinite(place.expected) && !std::isfinite(values[i])) {
        fail(request.header(), Status::not_finite, place.tensor, place.element, values[i], kHonest);
      }
      const double error = error_at(place, values[i]);
      *place.value = std::max(*place.value, place.is_integer ? error : error / 2);
    }
  });
}

inline bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// The number of the draw that decides each element of a unit, -1 where it is the same for both alternatives: where each
// draw takes a digit of its own number, the element shows that digit. One that several draws decide is a failure.
inline std::vector<std::int64_t> deciding_draws(Request& request, Reference reference, const Part& part,
                                                const Call<double>& given, const std::vector<Place>& places) {
  const auto values_with = [&](Taking taking, std::int64_t which) {
    draws.taking = taking;
    draws.which = which;
    Call<double> call = given;
    reference(call);
    return output_values(request.contract(), part, call);
  };
  const std::vector<double> first = values_with(Taking::one, 0);
  const std::vector<double> second = values_with(Taking::one, 1);
  const std::int64_t count = draws.count;
  std::vector<std::int64_t> numbers(places.size());
  const auto is_second = [&](const std::vector<double>& values, std::size_t i) {
    if (!is_same(values[i], first[i]) && !is_same(values[i], second[i])) {
      fail(request.header(), Status::several_draws, places[i].tensor, places[i].element, values[i]);
    }
    return !is_same(values[i], first[i]);
  };
  for (std::int64_t digit = 0; (count - 1) >> digit > 0; ++digit) {
    const std::vector<double> values = values_with(Taking::digit, digit);
    for (std::size_t i = 0; i < places.size(); ++i) {
      numbers[i] |= static_cast<std::int64_t>(is_second(values, i)) << digit;
    }
  }
  const std::vector<double> values = values_with(Taking::hash, 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool second_by_hash = mix64(static_cast<std::uint64_t>(numbers[i])) >> 63 != 0;
    if (is_same(first[i], second[i])) {
      numbers[i] = -1;
    } else if (is_second(values, i) != second_by_hash) {
      fail(request.header(), Status::several_draws, places[i].tensor, places[i].element, values[i]);
    }
  }
  return numbers;
}

inline void find_draws(Request& request, Reference reference) {
  const auto chosen = static_cast<std::size_t>(request.header().chosen);
  for_each_requested_unit(request, [&](std::int64_t, const Part& part) {
    const Call<double> given = gather(request, part);
    const std::vector<Place> places = places_of(request, part, given);
    const std::vector<std::int64_t> numbers = deciding_draws(request, reference, part, given, places);
    std::vector<std::vector<double>> probabilities;
    draws.kept = &probabilities;
    Call<double> call = given;
    reference(call);
    draws.kept = nullptr;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Place& place = places[i];
      request.values(place.tensor)[static_cast<std::size_t>(place.element)] = static_cast<double>(numbers[i]);
      *place.value = 0;
      if (numbers[i] >= 0 && numbers[i] < std::ssize(probabilities)) {
        const std::vector<double>& of_draw = probabilities[static_cast<std::size_t>(numbers[i])];
        *place.value = chosen < of_draw.size() ? of_draw[chosen] : 0;
      }
    }
  });
}

// The work of the units together.
inline void count_work(Request& request, Reference counted) {
  counts = {};
  for (const std::int64_t unit : request.contract().units) {
    Call<double> call = gather(request, part_of(request.contract(), unit));
    counted(call);
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
inline void fill_or_derive(Request& request, void (*fill)(Call<double>&, std::uint64_t), Reference derive) {
  const Contract& contract = request.contract();
  const Part all{.group = 0, .first = std::vector<std::int64_t>(contract.axes.size()), .count = contract.axes};
  Call<double> call = gather(request, all);
  const auto filled = std::ranges::find(contract.tensors, true, &TensorShape::is_output);
  call.filled = filled - contract.tensors.begin();
  if (request.header().mode == Mode::fill) {
    fill(call, request.header().seed);
  } else {
    derive(call);
  }
  for_each_output(contract, all, call, [&](std::size_t tensor, std::int64_t element, double value, bool unwritten) {
    if (unwritten || !is_allowed(request, value)) {
      fail(request.header(), unwritten ? Status::unwritten : Status::not_finite, tensor, element, value);
    }
    request.values(tensor)[static_cast<std::size_t>(element)] = value;
  });
}

// In each unit one addition goes wrong; which, the seed says.
inline void compute_wrongly(Request& request, Reference mistaken) {
  const Contract& contract = request.contract();
  for_each_requested_unit(request, [&](std::int64_t unit, const Part& part) {
    const std::uint64_t drawn = mix64(request.header().seed ^ mix64(static_cast<std::uint64_t>(unit)));
    Call<double> call;
    for (const bool counting : {true, false}) {
      call = gather(request, part);
      wrong_addition =
          counting || additions == 0 ? -1 : static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(additions));
      additions = 0;
      mistaken(call);
    }
    for_each_output(contract, part, call, [&](std::size_t tensor, std::int64_t element, double value, bool) {
      request.values(tensor)[static_cast<std::size_t>(element)] = value;
    });
  });
}

inline void answer(Request& request) {
  const auto needed = [](auto function) {
    if (function == nullptr) {
      std::exit(2);
    }
    return function;
  };
  switch (request.header().mode) {
    case Mode::reference:
      return compute(request, needed(program.exact));
    case Mode::honest:
      return compute(request, needed(program.honest));
    case Mode::noise:
      return estimate_noise(request, needed(program.noisy), needed(program.honest));
    case Mode::expected:
      compute(request, needed(program.exact));
      if (request.header().answer.status == Status::unfinished) {
        estimate_noise(request, needed(program.noisy), needed(program.honest));
      }
      return;
    case Mode::draws:
      return find_draws(request, needed(program.exact));
    case Mode::count:
      return count_work(request, needed(program.counted));
    case Mode::fill:
    case Mode::derive:
      return fill_or_derive(request, needed(program.fill), needed(program.derive));
    case Mode::bf16_sums:
    case Mode::dropped_term:
    case Mode::wrong_sign:
      return compute_wrongly(
          request,
          needed(program.mistaken[static_cast<int>(request.header().mode) - static_cast<int>(Mode::bf16_sums)]));
  }
  std::exit(2);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const confine_first)(int, char**, char**) = &confine;

}  // namespace apo::oracle

int main() {
  using namespace apo::oracle;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // a sample's memory serves the next one
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  Request request(request_file);
  try {
    answer(request);
    if (request.header().answer.status == Status::unfinished) {
      request.header().answer.status = Status::done;
    }
  } catch (const std::exception& error) {
    fail(request.header(), Status::threw, 0, 0, 0, error.what());
  }
  return 0;
}
