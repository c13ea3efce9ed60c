// tests/worker/declarations.h - compares what this program declares of NVIDIA's libraries with their headers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

// These fields (ours, theirs, ours, theirs, ...) have the same size and lie at the same places.
#define APO_SAME_PLACES(ours, theirs, ...)   \
  {                                          \
    using Ours = ours;                       \
    using Theirs = theirs;                   \
    APO_REPEAT(APO_SAME_FIELDS(__VA_ARGS__)) \
  }
// Both structures have the same size, too.
#define APO_SAME(ours, theirs, ...)                   \
  EXPECT_EQ(sizeof(ours), sizeof(theirs)) << #theirs; \
  __VA_OPT__(APO_SAME_PLACES(ours, theirs, __VA_ARGS__))
// The names of `space` (ours, theirs, ours, theirs, ...) have the values of those that begin with `prefix`.
#define APO_SAME_VALUES(space, prefix, ...) APO_REPEAT(APO_SAME_VALUE(space, prefix, __VA_ARGS__))

#define APO_SAME_FIELDS(field, their, ...)                             \
  EXPECT_EQ(offsetof(Ours, field), offsetof(Theirs, their)) << #their; \
  EXPECT_EQ(sizeof(Ours{}.field), sizeof(Theirs{}.their)) << #their;   \
  __VA_OPT__(APO_MORE_FIELDS APO_NOTHING()(__VA_ARGS__))
#define APO_MORE_FIELDS() APO_SAME_FIELDS
#define APO_SAME_VALUE(space, prefix, our, their, ...)                                                \
  EXPECT_EQ(static_cast<std::int64_t>(space::our), static_cast<std::int64_t>(prefix##their)) << #our; \
  __VA_OPT__(APO_MORE_VALUES APO_NOTHING()(space, prefix, __VA_ARGS__))
#define APO_MORE_VALUES() APO_SAME_VALUE
#define APO_NOTHING
#define APO_REPEAT(...) APO_REPEAT_16(APO_REPEAT_16(__VA_ARGS__))
#define APO_REPEAT_16(...) APO_REPEAT_4(APO_REPEAT_4(APO_REPEAT_4(APO_REPEAT_4(__VA_ARGS__))))
#define APO_REPEAT_4(...) APO_REPEAT_1(APO_REPEAT_1(APO_REPEAT_1(APO_REPEAT_1(__VA_ARGS__))))
#define APO_REPEAT_1(...) __VA_ARGS__
