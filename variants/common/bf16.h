// variants/common/bf16.h - bf16 in memory, fp32 in registers: conversion of one value and of an array.
#pragma once
#include <stdint.h>

#include <bit>
#include <cstddef>

// A variant is one translation unit and calls only a part of what its headers offer.
#pragma GCC diagnostic ignored "-Wunused-function"

namespace {

float load(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Round to nearest even; NaN stays NaN.
uint16_t store(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>((value == value ? rounded : bits | 0x400000u) >> 16);
}

void load(const uint16_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = load(from[i]);
  }
}

void store(const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = store(from[i]);
  }
}

template <size_t count>
[[gnu::always_inline]] inline void load(const uint16_t* from, float (&to)[count]) {
  load(from, count, to);
}

template <size_t count>
[[gnu::always_inline]] inline void store(const float (&from)[count], uint16_t* to) {
  store(from, count, to);
}

}  // namespace
