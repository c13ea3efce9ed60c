// tests/implement/variant/large_sizes_test.cpp - sizes beyond 2^31 and shapes at the edges, planned without a tensor.
#include <gtest/gtest.h>

#include "harness/core/system/files.h"
#include "harness/implement/variant/launch_plan.h"
#include "harness/implement/variant/settings.h"
#include "tests/implement/fixtures.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using namespace test;

Variant shipped(const std::string& id) {
  const std::string path = std::string(APO_SOURCE_FOLDER) + "/variants/" + id;
  return parse_variant(read_file(path), path);
}

Axes broadcast(std::int64_t op, std::int64_t kept, std::int64_t rows, std::int64_t columns) {
  Axes axes = {{"op", op}, {"need_dA", 1}, {"need_dB", 1}, {"kept", kept}, {"d6", rows}, {"d7", columns}};
  for (const char* name : {"d0", "d1", "d2", "d3", "d4", "d5"}) {
    axes[name] = 1;
  }
  return axes;
}

std::string unsupported(const std::string& id, const std::string& family, const Axes& axes) {
  std::string why;
  supports(shipped(id), *find_family(family), axes, {}, &why, device_symbols(h200()));
  return why;
}

TEST(BinaryBackward, MoreThanTwoToThe31ElementsAreLegalAndPlanned) {
  const Family& family = *find_family("binary_backward");
  const Axes axes = broadcast(2, 1, 1 << 20, 1 << 12);
  EXPECT_EQ(check_axes(family, axes), "");
  EXPECT_EQ(element_count(*find_tensor(family, "dA"), axes), std::int64_t{1} << 32);
  EXPECT_EQ(element_count(*find_tensor(family, "dB"), axes), 1 << 12);
  const Variant best = shipped("binary_backward/cuda_vectorised.cu");
  const PlannedLaunches planned =
      plan_launches(family, best, axes, {}, h200(), {{.name = "gradients"}, {.name = "add"}});
  ASSERT_EQ(planned.outcome, Outcome::valid) << planned.evidence;
  EXPECT_EQ(planned.plan.launches[0].grid[0], 2 * 132);
  EXPECT_EQ(scratch_bytes(best, axes, {}, device_symbols(h200()))[1], 4LL * 2 * 132 * 256 * 4)
      << "partial sums do not grow with A";
  expect_contains(unsupported("binary_backward/cuda_magic_division.cu", "binary_backward", axes),
                  "< 2147483648, which does not hold");
}

TEST(BinaryBackward, OneLaunchNeedsElementsOfDBForEachMultiprocessor) {
  for (const char* variant : {"cuda_one_launch.cu", "cuda_bulk_one_launch.cu"}) {
    const std::string id = std::string("binary_backward/") + variant;
    EXPECT_EQ(unsupported(id, "binary_backward", broadcast(2, 1, 1 << 10, 1 << 13)), "") << variant;
    EXPECT_NE(unsupported(id, "binary_backward", broadcast(2, 1, 1 << 20, 1 << 9)), "") << variant;
    Axes without_dB = broadcast(2, 1, 1 << 20, 1 << 9);
    without_dB["need_dB"] = 0;
    EXPECT_EQ(unsupported(id, "binary_backward", without_dB), "") << variant;
  }
}

TEST(BinaryBackward, WhatNoGradientNeedsIsEmpty) {
  const Family& family = *find_family("binary_backward");
  const auto elements = [&](const char* tensor, std::int64_t op, std::int64_t need_a, std::int64_t need_b) {
    Axes axes = broadcast(op, 1, 3, 5);
    axes["need_dA"] = need_a;
    axes["need_dB"] = need_b;
    return element_count(*find_tensor(family, tensor), axes);
  };
  EXPECT_EQ(elements("A", 0, 1, 1) + elements("B", 1, 1, 1), 0) << "a sum needs neither operand";
  EXPECT_EQ(elements("A", 2, 1, 0), 0) << "dA of a product needs B alone";
  EXPECT_EQ(elements("B", 2, 1, 0), 5);
  EXPECT_EQ(elements("B", 3, 0, 1), 5) << "dB of a quotient needs both";
  EXPECT_EQ(elements("dB", 2, 1, 0), 0);
  EXPECT_EQ(elements("dB", 2, 0, 1), 5);
}

TEST(BinaryBackward, RefusesCallsWithNothingToDoAndSizesBeyondArithmetic) {
  const Family& family = *find_family("binary_backward");
  Axes axes = broadcast(2, 1, 3, 5);
  axes["need_dA"] = axes["need_dB"] = 0;
  expect_contains(check_axes(family, axes), "binary_backward needs need_dA + need_dB > 0");
  axes = broadcast(2, 1, std::int64_t{1} << 32, std::int64_t{1} << 32);
  expect_contains(check_axes(family, axes), "binary_backward needs need_dA + need_dB > 0");
  axes = broadcast(6, 1, 3, 5);
  expect_contains(check_axes(family, axes), "op");
  EXPECT_EQ(check_axes(family, broadcast(2, 255, 1, 1)), "") << "rank 0";
  EXPECT_EQ(check_axes(family, broadcast(2, 1, 0, 5)), "") << "a sum over nothing";
}

Axes attention(std::int64_t heads, std::int64_t length, std::int64_t D) {
  return {{"heads", heads}, {"group", 1},  {"S", length}, {"keys", length},
          {"D", D},         {"causal", 0}, {"cap", 0},    {"segments", 0}};
}

TEST(LseBackward, PartialsAreRefusedWhereTheirMemoryIsAbsurd) {
  const std::string partials = "lse_backward/cuda_partials.cu";
  EXPECT_EQ(unsupported(partials, "lse_backward", attention(8, 2048, 128)), "");
  EXPECT_EQ(scratch_bytes(shipped(partials), attention(8, 2048, 128), {}, device_symbols(h200()))[0], 256LL << 20)
      << "twice the document's 128 MiB: tiles of 64 keys in place of 128";
  expect_contains(unsupported(partials, "lse_backward", attention(32, 8192, 128)), "<= 536870912, which does not hold");
  EXPECT_EQ(unsupported("lse_backward/cuda_fused_atomics.cu", "lse_backward", attention(32, 8192, 128)), "");
  EXPECT_EQ(scratch_bytes(shipped("lse_backward/cuda_fused_atomics.cu"), attention(32, 8192, 128), {},
                          device_symbols(h200()))[0],
            128LL << 20);
}

}  // namespace
}  // namespace apo
