// tests/worker/protocol/shared_tensors_test.cpp - layout, guards, poison and input checks of the parent's memory.
#include "harness/worker/protocol/shared_tensors.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "harness/core/error.h"
#include "tests/text.h"
#include "tests/worker/write_input.h"

namespace apo {
namespace {

SharedTensorsSpec spec(std::uint64_t seed) {
  return {.buffers = {{.name = "k", .bytes = 1000, .role = BufferRole::input, .element_bytes = 2},
                      {.name = "v", .bytes = 4097, .role = BufferRole::input, .element_bytes = 4},
                      {.name = "out", .bytes = 333, .role = BufferRole::output},
                      {.name = "history", .bytes = 64, .role = BufferRole::scratch, .slot = 0},
                      {.name = "cache", .bytes = 128, .role = BufferRole::scratch, .slot = 1}},
          .words = {4, 5},
          .input_sets = 2,
          .layout_seed = seed};
}

// The shared tensors as a worker sees it: a second mapping of the same file.
class View {
 public:
  explicit View(const SharedTensors& shared_tensors) : size_(static_cast<std::size_t>(shared_tensors.layout().bytes)) {
    memory_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, shared_tensors.fd(), 0));
  }
  ~View() { munmap(memory_, size_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  std::byte& at(std::int64_t offset) { return memory_[offset]; }

 private:
  std::byte* memory_;
  std::size_t size_;
};

BufferPlace place_of(const SharedTensors& shared_tensors, std::int64_t bytes, std::int64_t owner = 0) {
  for (const BufferPlace& place : shared_tensors.layout().buffers) {
    if (place.bytes == bytes && (place.role != BufferRole::input || place.owner == owner)) {
      return place;
    }
  }
  throw std::logic_error("the shared tensors have no such buffer");
}

std::int64_t output_offset(const SharedTensors& shared_tensors) {
  return place_of(shared_tensors, 333).offset;
}

std::vector<std::int64_t> offsets(const SharedTensors& shared_tensors) {
  std::vector<std::int64_t> result;
  for (const BufferPlace& place : shared_tensors.layout().buffers) {
    result.push_back(place.offset);
  }
  return result;
}

std::vector<BufferPlace> by_offset(const SharedTensors& shared_tensors) {
  std::vector<BufferPlace> places = shared_tensors.layout().buffers;
  std::ranges::sort(places, {}, &BufferPlace::offset);
  return places;
}

bool begins_with_nan(const std::vector<std::byte>& bytes, auto value) {
  std::memcpy(&value, bytes.data(), sizeof value);
  return std::isnan(value);
}

TEST(SharedTensors, KeepsTheContractsOrderPerRoleAndOwner) {
  const SharedTensors shared_tensors(spec(1));
  const auto& buffers = shared_tensors.layout().buffers;
  ASSERT_EQ(buffers.size(), 7u);  // two inputs in two sets, one output, one scratch a slot
  EXPECT_EQ(shared_tensors.layout().words, (std::vector<std::int64_t>{4, 5}));
  std::vector<std::int64_t> set_one;
  for (const BufferPlace& place : buffers) {
    if (place.role == BufferRole::input && place.owner == 1) {
      set_one.push_back(place.bytes);
    }
  }
  EXPECT_EQ(set_one, (std::vector<std::int64_t>{1000, 4097}));
}

TEST(SharedTensors, BuffersAreAlignedAndFarApart) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SharedTensors shared_tensors(spec(seed));
    std::int64_t previous_end = 0;
    for (const BufferPlace& place : by_offset(shared_tensors)) {
      EXPECT_EQ(place.offset % 64, 0);
      EXPECT_GE(place.offset - previous_end, 8192);
      previous_end = place.offset + place.bytes;
    }
    EXPECT_GE(shared_tensors.layout().bytes - previous_end, 4096);
  }
}

TEST(SharedTensors, LayoutFollowsTheSeed) {
  EXPECT_EQ(offsets(SharedTensors(spec(3))), offsets(SharedTensors(spec(3))));
  std::set<std::vector<std::int64_t>> seen;
  std::set<std::size_t> first_in_memory;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto at = offsets(SharedTensors(spec(seed)));
    seen.insert(at);
    first_in_memory.insert(static_cast<std::size_t>(std::min_element(at.begin(), at.end()) - at.begin()));
  }
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_GT(first_in_memory.size(), 3u) << "the order has to change, not only the gaps";
}

TEST(SharedTensors, PoisonIsNaNInEveryDtype) {
  std::vector<std::byte> bytes = SharedTensors(spec(1)).read_output("out");
  EXPECT_TRUE(begins_with_nan(bytes, float{}));
  EXPECT_TRUE(begins_with_nan(bytes, double{}));
  std::fill_n(bytes.begin(), 2, std::byte{0});  // a float's upper half is a bf16
  EXPECT_TRUE(begins_with_nan(bytes, float{}));
}

TEST(SharedTensors, EachOutputHasItsOwnPoison) {
  SharedTensorsSpec what = spec(1);
  what.buffers[2].poison = 0x5A;
  EXPECT_EQ(SharedTensors(what).read_output("out").back(), std::byte{0x5A});
}

TEST(SharedTensors, PoisoningAgainErasesWhatAWorkerWrote) {
  SharedTensors shared_tensors(spec(1));
  View worker(shared_tensors);
  worker.at(output_offset(shared_tensors) + 332) = std::byte{1};
  EXPECT_EQ(shared_tensors.read_output("out").back(), std::byte{1});
  shared_tensors.poison_outputs();
  EXPECT_EQ(shared_tensors.read_output("out").back(), std::byte{0xFF});
}

TEST(SharedTensors, WhatACallReadsAndWritesHoldsTheContentsOfItsSetBeforeEachCall) {
  for (const bool prepared : {false, true}) {  // without a copy of the contents in the file
    SharedTensors shared_tensors({.buffers = {{.name = "p", .bytes = 8, .role = BufferRole::input, .in_place = 0},
                                              {.name = "x", .bytes = 16, .role = BufferRole::input},
                                              {.name = "p", .bytes = 8, .role = BufferRole::output, .in_place = 0},
                                              {.name = "y", .bytes = 24, .role = BufferRole::output}},
                                  .input_sets = 2,
                                  .prepared_calls = prepared});
    for (const int set : {0, 1}) {
      testing::write_input(shared_tensors, set, "p", std::vector(8, static_cast<std::byte>(5 + set)));
    }
    View view(shared_tensors);
    for (const int set : {0, 1, 1}) {
      shared_tensors.poison_outputs(set);
      EXPECT_EQ(shared_tensors.read_output("p"), std::vector(8, static_cast<std::byte>(5 + set)));
      EXPECT_EQ(shared_tensors.read_output("y"), std::vector(24, std::byte{0xFF}));
      std::vector<std::int64_t> arguments;
      for (const std::size_t i : shared_tensors.layout().of_call(0, set)) {
        arguments.push_back(shared_tensors.layout().buffers[i].bytes);
      }
      EXPECT_EQ(arguments, (std::vector<std::int64_t>{16, 8, 24})) << "the contents before the call are no argument";
      for (const BufferPlace& place : shared_tensors.layout().buffers) {
        if (place.role == BufferRole::output) {
          view.at(place.offset) = std::byte{1};  // as a call does
        }
      }
      EXPECT_FALSE(shared_tensors.check_inputs());
    }
  }
}

TEST(SharedTensors, WritingInsideBuffersHarmsNoGuard) {
  const SharedTensors shared_tensors(spec(5));
  View worker(shared_tensors);
  for (const BufferPlace& place : shared_tensors.layout().buffers) {
    for (std::int64_t i = 0; i < place.bytes; ++i) {
      worker.at(place.offset + i) = std::byte{0x5A};
    }
  }
  EXPECT_FALSE(shared_tensors.check_guards());
}

TEST(SharedTensors, GuardsSeeOneByteOnEitherSideOfEveryBuffer) {
  const SharedTensorsSpec what = spec(5);
  const SharedTensors shared_tensors(what);
  View worker(shared_tensors);
  for (const BufferPlace& place : shared_tensors.layout().buffers) {
    for (const std::int64_t distance : {0, 1, 7, 4095}) {
      for (const bool after : {true, false}) {
        std::byte& byte = worker.at(after ? place.offset + place.bytes + distance : place.offset - 1 - distance);
        byte ^= std::byte{0x10};
        const auto damage = shared_tensors.check_guards();
        ASSERT_TRUE(damage) << "offset " << place.offset;
        EXPECT_EQ(damage->after, after);
        EXPECT_EQ(damage->offset, distance);
        byte ^= std::byte{0x10};
        EXPECT_FALSE(shared_tensors.check_guards());
      }
    }
  }
}

TEST(SharedTensors, DamageNamesTheBuffer) {
  const SharedTensors shared_tensors(spec(9));
  View worker(shared_tensors);
  worker.at(output_offset(shared_tensors) + 333) ^= std::byte{1};
  EXPECT_EQ(shared_tensors.check_guards()->sentence(), "wrote outside its buffers: 0 bytes past the end of 'out'");
}

TEST(SharedTensors, GapsBetweenBuffersAreGuardedToTheirMiddle) {
  const SharedTensors shared_tensors(spec(11));
  View worker(shared_tensors);
  const std::vector<BufferPlace> places = by_offset(shared_tensors);
  for (std::size_t i = 1; i < places.size(); ++i) {
    const std::int64_t middle = (places[i - 1].offset + places[i - 1].bytes + places[i].offset) / 2;
    worker.at(middle) ^= std::byte{1};
    EXPECT_TRUE(shared_tensors.check_guards());
    worker.at(middle) ^= std::byte{1};
  }
}

TEST(SharedTensors, NamesTheFirstChangedElementOfAnInput) {
  SharedTensors shared_tensors(spec(2));
  const std::vector<std::byte> ones(1000, std::byte{1});
  testing::write_input(shared_tensors, 0, "k", ones);
  testing::write_input(shared_tensors, 1, "k", ones);
  EXPECT_FALSE(shared_tensors.check_inputs());
  View worker(shared_tensors);
  for (const std::int64_t at : {41, 900}) {
    worker.at(place_of(shared_tensors, 1000, 1).offset + at) = std::byte{2};
  }
  const auto change = shared_tensors.check_inputs();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->set, 1);
  EXPECT_EQ(change->element, 20);  // bytes 40 and 41
  EXPECT_EQ(change->sentence(), "changed its input 'k (set 1)' at element 20");
}

TEST(SharedTensors, RewritingAnInputForgetsTheOldOne) {
  SharedTensors shared_tensors(spec(2));
  testing::write_input(shared_tensors, 0, "k", std::vector<std::byte>(1000, std::byte{1}));
  testing::write_input(shared_tensors, 0, "k", std::vector<std::byte>(1000, std::byte{7}));
  EXPECT_FALSE(shared_tensors.check_inputs());
}

TEST(SharedTensors, NothingOfAnEarlierCallIsLeftInMemoryThatIsUsedAgain) {
  const auto memory = std::make_shared<MemoryFile>();
  memory->reserve(std::int64_t{1} << 20);
  std::fill(memory->data(), memory->data() + memory->bytes(), std::byte{42});
  const SharedTensors shared_tensors(spec(2), memory);
  ASSERT_EQ(memory->bytes(), std::int64_t{1} << 20);
  std::vector<bool> input(static_cast<std::size_t>(memory->bytes()));
  for (const BufferPlace& place : shared_tensors.layout().buffers) {
    if (place.role == BufferRole::input) {  // about to be written
      std::fill_n(input.begin() + place.offset, place.bytes, true);
    }
  }
  std::int64_t left = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    left += !input[i] && memory->data()[i] == std::byte{42} ? 1 : 0;
  }
  EXPECT_LT(left, memory->bytes() / 128);  // one guard byte in 256 has that value
  EXPECT_FALSE(shared_tensors.check_guards());
}

TEST(SharedTensors, MoreMemoryThanTheMachineHasIsRefusedWithBothSizes) {
  MemoryFile memory;
  expect_contains(error_of<EnvironmentError>([&] { memory.reserve(std::int64_t{1} << 50); }),
                  "1024.00 TiB of shared memory, and this machine has");
}

TEST(SharedTensors, ASharedInputThatRepeatsIsComparedBlockByBlock) {
  SharedTensors shared_tensors(spec(1));
  const std::vector<std::byte> tile(500, std::byte{9});
  shared_tensors.share_input(0, "k", {.tile = tile, .outer = 2, .period = 1, .count = 2});
  EXPECT_FALSE(shared_tensors.check_inputs());
  View worker(shared_tensors);
  for (const std::int64_t set : {0, 1}) {
    worker.at(place_of(shared_tensors, 1000, set).offset + 700) = std::byte{2};
  }
  ASSERT_TRUE(shared_tensors.check_inputs(0));
  EXPECT_EQ(shared_tensors.check_inputs(0)->element, 350);
  EXPECT_FALSE(shared_tensors.check_inputs(1));
}

TEST(SharedTensors, AnInputOfManyRunsIsTheSameOnSeveralThreads) {
  std::vector<std::byte> source(std::size_t{3} << 20);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>(i / 1000 + i);
  }
  constexpr std::size_t kRun = 1000;
  ByteRuns runs;
  std::vector<std::byte> expected;
  for (std::size_t i = 0; i < source.size() / kRun; ++i) {
    runs.push_back(std::span(source).subspan(i * 7919 * kRun % (source.size() - kRun), kRun));
    expected.insert(expected.end(), runs.back().begin(), runs.back().end());
  }
  const InputView view{.tile = {}, .runs = runs};
  EXPECT_EQ(view.bytes(), std::ssize(expected));
  for (const int threads : {1, 3}) {
    std::vector<std::byte> copy(expected.size());
    view.copy_to(copy.data(), threads);
    EXPECT_EQ(copy, expected) << threads;
  }
}

TEST(SharedTensors, AnInputThatIsKeptElsewhereIsInTheLayoutAndNotInTheFileUntilItIsShared) {
  SharedTensors shared_tensors(spec(1));
  const std::vector<std::byte> bytes(1000, std::byte{9});
  shared_tensors.keep_input(0, "k", {.tile = bytes}, {.handle = "ab", .offsets = {0}});
  EXPECT_TRUE(shared_tensors.layout().is_kept(0));
  EXPECT_EQ(shared_tensors.layout().kept.at(0).handle, "ab");
  ASSERT_TRUE(shared_tensors.check_inputs(0)) << "the file has no such bytes";
  shared_tensors.share_input(0, "k", {.tile = bytes});
  EXPECT_FALSE(shared_tensors.layout().is_kept(0));
  EXPECT_FALSE(shared_tensors.check_inputs(0));
}

TEST(SharedTensors, OutputSnapshotDoesNotFollowLaterWrites) {
  const SharedTensors shared_tensors(spec(2));
  const std::vector<std::byte> before = shared_tensors.read_output("out");
  View(shared_tensors).at(output_offset(shared_tensors)) = std::byte{0};
  EXPECT_EQ(before.front(), std::byte{0xFF});
}

TEST(SharedTensors, CannotBeShrunkUnderTheParent) {
  const SharedTensors shared_tensors(spec(2));
  EXPECT_NE(ftruncate(shared_tensors.fd(), 0), 0);
  EXPECT_EQ(shared_tensors.read_output("out").size(), 333u);
}

TEST(SharedTensors, EmptyBuffersAreAllowed) {
  const SharedTensors shared_tensors({.buffers = {{.name = "x", .bytes = 0, .role = BufferRole::input},
                                                  {.name = "y", .bytes = 0, .role = BufferRole::output}}});
  EXPECT_FALSE(shared_tensors.check_guards());
  EXPECT_FALSE(shared_tensors.check_inputs());
  EXPECT_TRUE(shared_tensors.read_output("y").empty());
}

TEST(SharedTensors, FencedInputsEndWhereAPageDoes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  for (const std::int64_t bytes : {4, 4004, 16384, 70000}) {
    const SharedTensors shared_tensors({.buffers = {{.name = "x", .bytes = bytes, .role = BufferRole::input},
                                                    {.name = "y", .bytes = bytes, .role = BufferRole::output}},
                                        .input_sets = 2,
                                        .layout_seed = static_cast<std::uint64_t>(bytes),
                                        .fenced = true});
    for (const BufferPlace& place : shared_tensors.layout().buffers) {
      const std::int64_t left = (page - (place.offset + place.bytes) % page) % page;
      EXPECT_TRUE(place.role != BufferRole::input || left < 64) << left;
      EXPECT_LE(place.offset + place.bytes + left + page, shared_tensors.layout().bytes) << "there is a page to close";
    }
  }
}

}  // namespace
}  // namespace apo
