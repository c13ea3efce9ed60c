// check/operands.h - operands of an operation, drawn alike for every backend, and its results as doubles.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "check/compare.h"
#include "host/rounding.h"
#include "model/random.h"

namespace byte_lm {

template <class Type>
Type to_number(double value) {
  return static_cast<Type>(static_cast<float>(value));
}

template <class Type>
double from_number(Type value) {
  if constexpr (std::is_arithmetic_v<Type>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

template <class Backend>
class Operands {
 public:
  using Half = typename Backend::Half;
  using Full = typename Backend::Full;

  Operands(Backend& backend, std::string operation) : backend_(backend), operation_(std::move(operation)) {}

  Backend& backend() { return backend_; }

  // Normal values times `scale` around `mean` that bf16 can hold, so that every backend gets the same.
  template <class Type>
  Type* draw(std::int64_t count, double scale = 1, double mean = 0) {
    const Random random(17, operation_ + " " + std::to_string(drawn_++));
    std::vector<Type> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = to_number<Type>(Bf16::half(static_cast<float>(mean + scale * random.normal(i))));
    }
    return put(values);
  }
  Half* half(std::int64_t count, double scale = 1, double mean = 0) { return draw<Half>(count, scale, mean); }
  Full* full(std::int64_t count, double scale = 1, double mean = 0) { return draw<Full>(count, scale, mean); }

  template <class Type>
  Type* put(const std::vector<Type>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    Type* data = backend_.template allocate<Type>(count);
    backend_.upload(values.data(), count, data);
    return data;
  }

  // A tensor to write that results() returns.
  template <class Type>
  Type* result(const std::string& name, std::int64_t count) {
    return keep(name, count, backend_.template allocate<Type>(count));
  }
  template <class Type>
  Type* keep(const std::string& name, std::int64_t count, Type* data) {
    wanted_.push_back([this, name, count, data] {
      std::vector<Type> values(static_cast<std::size_t>(count));
      backend_.download(data, count, values.data());
      NamedValues named = {.name = operation_ + "." + name, .values = {}};
      std::transform(values.begin(), values.end(), std::back_inserter(named.values), from_number<Type>);
      return named;
    });
    return data;
  }

  std::vector<NamedValues> results() const {
    std::vector<NamedValues> all;
    for (const auto& one : wanted_) {
      all.push_back(one());
    }
    return all;
  }

 private:
  Backend& backend_;
  std::string operation_;
  int drawn_ = 0;
  std::vector<std::function<NamedValues()>> wanted_;
};

}  // namespace byte_lm
