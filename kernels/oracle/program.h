// kernels/oracle/program.h - the main function of a family's program: one request, answered in shared memory.
//
// Compiled once and linked to the generated source of each family, which defines `program`.
#pragma once

#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <span>

#include "kernels/oracle/call.h"
#include "kernels/oracle/confinement.h"
#include "kernels/oracle/mutant.h"
#include "kernels/oracle/request.h"
#include "kernels/oracle/stored.h"
#include "kernels/parallel.h"

namespace apo::oracle {

// In the outputs before a call: a NaN and an integer that no computation makes.
inline constexpr std::uint64_t kUnwrittenBits = 0x7ff8dead0beef001ull;
inline constexpr std::int64_t kUnwrittenInteger = -0x7dead0beef0001ll;
inline constexpr NumberType kIntegers = {
    .bytes = sizeof(std::int64_t),
    .from_doubles =
        [](const double* from, std::int64_t count, void* to) {
          std::transform(from, from + count, static_cast<std::int64_t*>(to), [](double value) {
            return std::bit_cast<std::uint64_t>(value) == kUnwrittenBits ? kUnwrittenInteger
                                                                         : static_cast<std::int64_t>(value);
          });
        },
    .to_doubles =
        [](const void* from, std::int64_t count, double* to) {
          const auto* const values = static_cast<const std::int64_t*>(from);
          std::transform(values, values + count, to, [](std::int64_t value) {
            return value == kUnwrittenInteger ? std::bit_cast<double>(kUnwrittenBits) : static_cast<double>(value);
          });
        }};

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
  const std::byte* stored(std::size_t tensor) const { return base_ + contract_.tensors[tensor].offset; }
  // Of an output.
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

// What a function gets of one tensor.
struct Given {
  StoredPart part;  // of an output that the function changes, what it holds before; else of an output only its size
  bool is_output = false;
  bool is_unwritten = false;
  bool is_integer = false;
};

// The arguments of one call, whatever the number type.
struct Arguments {
  std::vector<std::int64_t> axes;
  std::vector<double> scalars;
  std::vector<Given> tensors;
  std::int64_t filled = -1;
};

// The outputs of a call, by tensor; empty for the others. An element that was not written has kUnwrittenBits.
using Results = std::vector<std::vector<double>>;

// The part of the tensors that belongs to a unit.
inline Arguments arguments_of(const Request& request, const Part& part) {
  const Contract& contract = request.contract();
  Arguments arguments{.axes = part.count, .scalars = contract.scalars, .tensors = {}};
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    const TensorShape& tensor = contract.tensors[t];
    const std::size_t from = tensor.before < 0 ? t : static_cast<std::size_t>(tensor.before);
    Given given{.part = {.tensor = request.stored(from), .dtype = contract.tensors[from].stored, .runs = {}},
                .is_output = tensor.is_output,
                .is_unwritten = tensor.is_output && tensor.before < 0,
                .is_integer = tensor.is_integer};
    for_each_run(tensor, part, [&](std::int64_t offset, std::int64_t count) {
      given.part.runs.push_back(offset);
      given.part.run = count;  // the same of all
    });
    arguments.tensors.push_back(std::move(given));
  }
  return arguments;
}

// Calls work(tensor, element of the whole tensor, its place among those of the part) for every element of an output.
template <class Work>
void for_each_place(const Contract& contract, const Part& part, Work work) {
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    if (!contract.tensors[t].is_output || !belongs(contract.tensors[t], part)) {
      continue;
    }
    std::size_t next = 0;
    for_each_run(contract.tensors[t], part, [&](std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = offset; i < offset + count; ++i, ++next) {
        work(t, i, next);
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

// Calls a function on numbers of a type.
template <class Function>
Results call(const Arguments& given, const NumberType& type, Function function) {
  Call call{.axes = given.axes, .scalars = given.scalars, .tensors = {}, .filled = given.filled};
  std::vector<Numbers> numbers;
  const auto type_of = [&](const Given& tensor) -> const NumberType& { return tensor.is_integer ? kIntegers : type; };
  for (const Given& tensor : given.tensors) {
    if (tensor.is_unwritten) {
      numbers.emplace_back(tensor.part.count(), type_of(tensor), std::bit_cast<double>(kUnwrittenBits));
    } else {
      numbers.emplace_back(tensor.part, type_of(tensor), tensor.is_output, program.converts_first);
    }
    call.tensors.push_back(numbers.back().data());
  }
  function(call);
  Results results(given.tensors.size());
  for (std::size_t t = 0; t < results.size(); ++t) {
    const Given& tensor = given.tensors[t];
    if (tensor.is_output) {
      results[t].resize(static_cast<std::size_t>(tensor.part.count()));
      type_of(tensor).to_doubles(numbers[t].data(), tensor.part.count(), results[t].data());
    }
  }
  return results;
}

inline Results run(Request& request, const Version& version, const Arguments& given) {
  draws.count = 0;
  Results results = call(given, version.type, version.reference);
  ++std::atomic_ref(request.header().answer.runs);
  return results;
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
inline void for_each_requested_unit(Request& request, const std::vector<std::int64_t>& units,
                                    const std::function<void(std::int64_t, const Part&)>& work) {
  const std::int64_t chosen = request.header().chosen;
  for_each_unit(units, static_cast<int>(request.header().threads), [&](std::int64_t unit) {
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

// Puts the results of a part in the output arrays.
inline void keep(Request& request, const Part& part, const Results& results, bool is_checked = true) {
  for_each_place(request.contract(), part, [&](std::size_t tensor, std::int64_t element, std::size_t at) {
    const double value = results[tensor][at];
    const bool unwritten = std::bit_cast<std::uint64_t>(value) == kUnwrittenBits;
    if (is_checked && (unwritten || !is_allowed(request, value))) {
      fail(request.header(), unwritten ? Status::unwritten : Status::not_finite, tensor, element, value);
    }
    request.values(tensor)[static_cast<std::size_t>(element)] = value;
  });
}

inline void compute(Request& request, const Version& reference) {
  for_each_requested_unit(request, request.contract().units, [&](std::int64_t, const Part& part) {
    keep(request, part, run(request, reference, arguments_of(request, part)));
  });
}

// The values of all outputs of a part, in the order of for_each_place().
inline std::vector<double> output_values(const Contract& contract, const Part& part, const Results& results) {
  std::vector<double> values;
  for (std::size_t t = 0; t < contract.tensors.size(); ++t) {
    if (contract.tensors[t].is_output && belongs(contract.tensors[t], part)) {
      values.insert(values.end(), results[t].begin(), results[t].end());
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

inline std::vector<Place> places_of(Request& request, const Part& part) {
  std::vector<Place> places;  // they may lie far apart
  for_each_place(request.contract(), part, [&](std::size_t tensor, std::int64_t element, std::size_t) {
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

// So many samples at a time.
inline Errors sampled_errors(Request& request, const Version& noisy, std::int64_t unit, const Part& part,
                             const Arguments& given, const std::vector<Place>& places, std::int64_t at_once) {
  constexpr std::size_t kKept = 1 << 15;  // enough to tell whether they are independent
  Errors errors{.squares = std::vector<double>(places.size()), .samples = {}};
  for (std::int64_t first = 0; first < request.header().samples; first += at_once) {
    std::vector<std::vector<double>> samples(
        static_cast<std::size_t>(std::min(at_once, request.header().samples - first)));
    std::vector<std::exception_ptr> thrown(samples.size());
    for_each_index(samples.size(), static_cast<int>(at_once), [&, own_draws = draws](std::size_t i) {
      draws = own_draws;
      random_state = derive_seed(request.header().seed, "sample", static_cast<std::uint64_t>(first) + i) ^
                     mix64(static_cast<std::uint64_t>(unit));
      sample_seed = random_state;
      try {
        samples[i] = output_values(request.contract(), part, run(request, noisy, given));
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    });
    for (const std::exception_ptr& one : thrown) {
      if (one) {
        std::rethrow_exception(one);
      }
    }
    for (std::vector<double>& values : samples) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        values[i] = error_at(places[i], values[i]);
        errors.squares[i] += values[i] * values[i];
      }
      values.resize(std::min(values.size(), kKept));
      errors.samples.push_back(std::move(values));
    }
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
// Half the error of the honest version takes its place where that is more. An integer that a sample or the honest
// version decides otherwise gets infinity, as it may be either.
inline void estimate_noise(Request& request, const Version& noisy, const Version& honest, std::int64_t unit,
                           const Part& part, std::int64_t at_once) {
  const Arguments given = arguments_of(request, part);
  const std::vector<Place> places = places_of(request, part);
  const Errors errors = sampled_errors(request, noisy, unit, part, given, places, at_once);
  for (std::size_t i = 0; i < places.size(); ++i) {
    *places[i].value = std::sqrt(errors.squares[i] / static_cast<double>(request.header().samples));
  }
  widen_common_errors(request.contract(), places, errors);
  if (!perturbed_alone.empty()) {
    return;
  }
  const std::vector<double> values = output_values(request.contract(), part, run(request, honest, given));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    if (std::isfinite(place.expected) && !std::isfinite(values[i])) {
      fail(request.header(), Status::not_finite, place.tensor, place.element, values[i], kHonest);
    }
    const double error = error_at(place, values[i]);
    *place.value = std::max(*place.value, place.is_integer ? error : error / 2);
  }
}

// How many samples of each of so many units fill the threads.
inline std::int64_t samples_at_once(const Header& header, std::size_t units) {
  return std::max<std::int64_t>(1, header.threads / std::max<std::int64_t>(1, static_cast<std::int64_t>(units)));
}

// The reference of all units, and the noise around it of those that are asked for it, each with all its samples: of the
// fewest side by side, then of the others, as many as are begun in time.
inline void expect(Request& request, const Version& exact, const Version& noisy, const Version& honest) {
  const auto start = std::chrono::steady_clock::now();
  Header& header = request.header();
  const std::vector<std::int64_t>& units = request.contract().with_noise;
  const auto is_late = [&](std::int64_t number) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start;
    const double enough_s = number >= kManyUnits ? std::min(kOfManySeconds, header.enough_s) : header.enough_s;
    return header.enough_s > 0 && since.count() > enough_s;
  };
  std::atomic<std::int64_t> left_out = std::ssize(units);  // the first one that is
  const auto expect_some = [&](const std::vector<std::int64_t>& some, bool may_leave_out) {
    for_each_requested_unit(request, some, [&](std::int64_t unit, const Part& part) {
      const std::int64_t number = std::ranges::find(units, unit) - units.begin();
      const bool is_left_out = may_leave_out && is_late(number);
      for (std::int64_t first = left_out;
           is_left_out && number < first && !left_out.compare_exchange_weak(first, number);) {
      }
      if (is_left_out && header.is_whole == 0) {
        return;
      }
      keep(request, part, run(request, exact, arguments_of(request, part)));
      if (!is_left_out && header.answer.status == Status::unfinished) {
        estimate_noise(request, noisy, honest, unit, part, samples_at_once(header, some.size()));
      }
    });
  };
  const std::int64_t fewest =
      header.enough_s > 0 ? std::min(header.fewest_units, std::ssize(units)) : std::ssize(units);
  expect_some({units.begin(), units.begin() + fewest}, false);
  expect_some({units.begin() + fewest, units.end()}, true);
  header.answer.with_noise = left_out;
  if (header.answer.status == Status::unfinished) {
    compute(request, exact);
  }
}

inline bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// The number of the draw that decides each element of a unit, -1 where it is the same for both alternatives: where each
// draw takes a digit of its own number, the element shows that digit. One that several draws decide is a failure.
inline std::vector<std::int64_t> deciding_draws(Request& request, const Version& reference, const Part& part,
                                                const Arguments& given, const std::vector<Place>& places) {
  const auto values_with = [&](Taking taking, std::int64_t which) {
    draws.taking = taking;
    draws.which = which;
    return output_values(request.contract(), part, run(request, reference, given));
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

inline void find_draws(Request& request, const Version& reference) {
  const auto chosen = static_cast<std::size_t>(request.header().chosen);
  for_each_requested_unit(request, request.contract().units, [&](std::int64_t, const Part& part) {
    const Arguments given = arguments_of(request, part);
    const std::vector<Place> places = places_of(request, part);
    const std::vector<std::int64_t> numbers = deciding_draws(request, reference, part, given, places);
    std::vector<std::vector<double>> probabilities;
    draws.kept = &probabilities;
    static_cast<void>(run(request, reference, given));
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
inline void count_work(Request& request, const Version& counted) {
  counts = {};
  for (const std::int64_t unit : request.contract().units) {
    static_cast<void>(run(request, counted, arguments_of(request, part_of(request.contract(), unit))));
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
inline void fill_or_derive(Request& request, void (*fill)(Call&, std::uint64_t), void (*derive)(Call&)) {
  const Contract& contract = request.contract();
  const Part all{.group = 0, .first = std::vector<std::int64_t>(contract.axes.size()), .count = contract.axes};
  Arguments arguments = arguments_of(request, all);
  const auto filled = std::ranges::find(contract.tensors, true, &TensorShape::is_output);
  arguments.filled = filled - contract.tensors.begin();
  constexpr NumberType kDoubles = {
      .bytes = sizeof(double), .from_doubles = from_doubles<double>, .to_doubles = to_doubles<double>};
  keep(request, all, call(arguments, kDoubles, [&](Call& one) {
         if (request.header().mode == Mode::fill) {
           fill(one, request.header().seed);
         } else {
           derive(one);
         }
       }));
}

// In each unit one addition goes wrong; which, the seed says.
inline void compute_wrongly(Request& request, const Version& mistaken) {
  for_each_requested_unit(request, request.contract().units, [&](std::int64_t unit, const Part& part) {
    const std::uint64_t drawn = mix64(request.header().seed ^ mix64(static_cast<std::uint64_t>(unit)));
    const Arguments given = arguments_of(request, part);
    wrong_addition = -1;
    additions = 0;
    Results results = run(request, mistaken, given);
    if (additions > 0) {
      wrong_addition = static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(additions));
      additions = 0;
      results = run(request, mistaken, given);
    }
    keep(request, part, results, false);
  });
}

inline void answer(Request& request) {
  const auto needed = [](const Version& version) -> const Version& {
    if (version.reference == nullptr) {
      std::exit(2);
    }
    return version;
  };
  switch (request.header().mode) {
    case Mode::reference:
      return compute(request, needed(program.exact));
    case Mode::honest:
      return compute(request, needed(program.honest));
    case Mode::noise:
      perturbed_alone = request.header().alone;
      return for_each_requested_unit(request, request.contract().units, [&](std::int64_t unit, const Part& part) {
        estimate_noise(request, needed(program.noisy), needed(program.honest), unit, part,
                       samples_at_once(request.header(), request.contract().units.size()));
      });
    case Mode::expected:
      return expect(request, needed(program.exact), needed(program.noisy), needed(program.honest));
    case Mode::draws:
      return find_draws(request, needed(program.exact));
    case Mode::count:
      return count_work(request, needed(program.counted));
    case Mode::fill:
    case Mode::derive:
      return fill_or_derive(request, program.fill, program.derive);
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
    request.header().answer.numbers = numbers_read;
    if (request.header().answer.status == Status::unfinished) {
      request.header().answer.status = Status::done;
    }
  } catch (const std::exception& error) {
    fail(request.header(), Status::threw, 0, 0, 0, error.what());
  }
  return 0;
}
