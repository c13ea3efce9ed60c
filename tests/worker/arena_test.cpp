// tests/worker/arena_test.cpp - layout, guards, poison and input checks of the parent's memory.
#include "harness/worker/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "harness/core/error.h"

namespace apo {
namespace {

ArenaSpec spec(std::uint64_t seed) {
  return {.buffers = {{.name = "k", .bytes = 1000, .role = BufferRole::input, .element_bytes = 2},
                      {.name = "v", .bytes = 4097, .role = BufferRole::input, .element_bytes = 4},
                      {.name = "out", .bytes = 333, .role = BufferRole::output},
                      {.name = "history", .bytes = 64, .role = BufferRole::scratch, .slot = 0},
                      {.name = "cache", .bytes = 128, .role = BufferRole::scratch, .slot = 1}},
          .axes = {4, 5},
          .input_sets = 2,
          .layout_seed = seed};
}

// The arena as a worker sees it: a second mapping of the same file.
class View {
 public:
  explicit View(const Arena& arena) : size_(static_cast<std::size_t>(arena.layout().bytes)) {
    memory_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, arena.fd(), 0));
  }
  ~View() { munmap(memory_, size_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  std::byte& at(std::int64_t offset) { return memory_[offset]; }

 private:
  std::byte* memory_;
  std::size_t size_;
};

const BufferPlace& output_place(const Arena& arena) {
  for (const BufferPlace& place : arena.layout().buffers) {
    if (place.role == BufferRole::output) {
      return place;
    }
  }
  throw std::logic_error("the arena has no output");
}

std::vector<std::int64_t> offsets(const Arena& arena) {
  std::vector<std::int64_t> result;
  for (const BufferPlace& place : arena.layout().buffers) {
    result.push_back(place.offset);
  }
  return result;
}

TEST(Arena, KeepsTheContractsOrderPerRoleAndOwner) {
  const Arena arena(spec(1));
  const auto& buffers = arena.layout().buffers;
  ASSERT_EQ(buffers.size(), 7u);  // two inputs in two sets, one output, one scratch a slot
  EXPECT_EQ(arena.layout().axes, (std::vector<std::int64_t>{4, 5}));
  std::vector<std::int64_t> set_one;
  for (const BufferPlace& place : buffers) {
    if (place.role == BufferRole::input && place.owner == 1) {
      set_one.push_back(place.bytes);
    }
  }
  EXPECT_EQ(set_one, (std::vector<std::int64_t>{1000, 4097}));
}

TEST(Arena, BuffersAreAlignedAndFarApart) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Arena arena(spec(seed));
    std::int64_t previous_end = 0;
    std::vector<BufferPlace> places = arena.layout().buffers;
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    for (const BufferPlace& place : places) {
      EXPECT_EQ(place.offset % 64, 0);
      EXPECT_GE(place.offset - previous_end, 8192);
      previous_end = place.offset + place.bytes;
    }
    EXPECT_GE(arena.layout().bytes - previous_end, 4096);
  }
}

TEST(Arena, LayoutFollowsTheSeed) {
  EXPECT_EQ(offsets(Arena(spec(3))), offsets(Arena(spec(3))));
  std::set<std::vector<std::int64_t>> seen;
  std::set<std::size_t> first_in_memory;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto at = offsets(Arena(spec(seed)));
    seen.insert(at);
    first_in_memory.insert(static_cast<std::size_t>(std::min_element(at.begin(), at.end()) - at.begin()));
  }
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_GT(first_in_memory.size(), 3u) << "the order has to change, not only the gaps";
}

TEST(Arena, PoisonIsNaNInEveryDtype) {
  const Arena arena(spec(1));
  const std::vector<std::byte> bytes = arena.read_output("out");
  std::uint16_t half = 0;
  float single = 0;
  double twice = 0;
  std::memcpy(&half, bytes.data(), sizeof half);
  std::memcpy(&single, bytes.data(), sizeof single);
  std::memcpy(&twice, bytes.data(), sizeof twice);
  const std::uint32_t widened = static_cast<std::uint32_t>(half) << 16;
  float from_bf16 = 0;
  std::memcpy(&from_bf16, &widened, sizeof from_bf16);
  EXPECT_TRUE(std::isnan(from_bf16));
  EXPECT_TRUE(std::isnan(single));
  EXPECT_TRUE(std::isnan(twice));
}

TEST(Arena, PoisoningAgainErasesWhatAWorkerWrote) {
  Arena arena(spec(1));
  View worker(arena);
  worker.at(output_place(arena).offset + 332) = std::byte{1};
  EXPECT_EQ(arena.read_output("out").back(), std::byte{1});
  arena.poison_outputs();
  EXPECT_EQ(arena.read_output("out").back(), std::byte{0xFF});
}

TEST(Arena, WritingInsideBuffersHarmsNoGuard) {
  const Arena arena(spec(5));
  View worker(arena);
  for (const BufferPlace& place : arena.layout().buffers) {
    for (std::int64_t i = 0; i < place.bytes; ++i) {
      worker.at(place.offset + i) = std::byte{0x5A};
    }
  }
  EXPECT_FALSE(arena.check_guards());
}

TEST(Arena, GuardsSeeOneByteOnEitherSideOfEveryBuffer) {
  const ArenaSpec what = spec(5);
  const Arena arena(what);
  View worker(arena);
  for (const BufferPlace& place : arena.layout().buffers) {
    for (const std::int64_t distance : {0, 1, 7, 4095}) {
      for (const bool after : {true, false}) {
        std::byte& byte = worker.at(after ? place.offset + place.bytes + distance : place.offset - 1 - distance);
        byte ^= std::byte{0x10};
        const auto damage = arena.check_guards();
        ASSERT_TRUE(damage) << "offset " << place.offset;
        EXPECT_EQ(damage->after, after);
        EXPECT_EQ(damage->offset, distance);
        byte ^= std::byte{0x10};
        EXPECT_FALSE(arena.check_guards());
      }
    }
  }
}

TEST(Arena, DamageNamesTheBuffer) {
  const Arena arena(spec(9));
  View worker(arena);
  const BufferPlace& out = output_place(arena);
  worker.at(out.offset + out.bytes) ^= std::byte{1};
  EXPECT_EQ(arena.check_guards()->sentence(), "wrote outside its buffers: 0 bytes past the end of 'out'");
}

TEST(Arena, GapsBetweenBuffersAreGuardedToTheirMiddle) {
  const Arena arena(spec(11));
  View worker(arena);
  std::vector<BufferPlace> places = arena.layout().buffers;
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < places.size(); ++i) {
    const std::int64_t middle = (places[i - 1].offset + places[i - 1].bytes + places[i].offset) / 2;
    worker.at(middle) ^= std::byte{1};
    EXPECT_TRUE(arena.check_guards());
    worker.at(middle) ^= std::byte{1};
  }
}

TEST(Arena, NamesTheFirstChangedElementOfAnInput) {
  Arena arena(spec(2));
  const std::vector<std::byte> ones(1000, std::byte{1});
  arena.write_input(0, "k", ones);
  arena.write_input(1, "k", ones);
  EXPECT_FALSE(arena.check_inputs());
  View worker(arena);
  for (const BufferPlace& place : arena.layout().buffers) {
    if (place.role == BufferRole::input && place.owner == 1 && place.bytes == 1000) {
      worker.at(place.offset + 41) = std::byte{2};
      worker.at(place.offset + 900) = std::byte{2};
    }
  }
  const auto change = arena.check_inputs();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->set, 1);
  EXPECT_EQ(change->element, 20);  // bytes 40 and 41
  EXPECT_EQ(change->sentence(), "changed its input 'k (set 1)' at element 20");
}

TEST(Arena, RewritingAnInputForgetsTheOldOne) {
  Arena arena(spec(2));
  arena.write_input(0, "k", std::vector<std::byte>(1000, std::byte{1}));
  arena.write_input(0, "k", std::vector<std::byte>(1000, std::byte{7}));
  EXPECT_FALSE(arena.check_inputs());
}

TEST(Arena, NothingOfAnEarlierCallIsLeftInMemoryThatIsUsedAgain) {
  const auto memory = std::make_shared<ArenaMemory>();
  memory->reserve(std::int64_t{1} << 20);
  std::fill(memory->data(), memory->data() + memory->bytes(), std::byte{42});
  const Arena arena(spec(2), memory);
  ASSERT_EQ(memory->bytes(), std::int64_t{1} << 20);
  std::vector<bool> input(static_cast<std::size_t>(memory->bytes()));
  for (const BufferPlace& place : arena.layout().buffers) {
    if (place.role == BufferRole::input) {  // about to be written
      std::fill_n(input.begin() + place.offset, place.bytes, true);
    }
  }
  std::int64_t left = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    left += !input[i] && memory->data()[i] == std::byte{42} ? 1 : 0;
  }
  EXPECT_LT(left, memory->bytes() / 128);  // one guard byte in 256 has that value
  EXPECT_FALSE(arena.check_guards());
}

TEST(Arena, MoreMemoryThanTheMachineHasIsRefusedWithBothSizes) {
  ArenaMemory memory;
  try {
    memory.reserve(std::int64_t{1} << 50);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("1024.00 TiB of shared memory, and this machine has"), std::string::npos)
        << error.what();
  }
}

TEST(Arena, ASharedInputThatRepeatsIsComparedBlockByBlock) {
  Arena arena(spec(1));
  const std::vector<std::byte> tile(500, std::byte{9});
  arena.share_input(0, "k", {.tile = tile, .outer = 2, .period = 1, .count = 2});
  EXPECT_FALSE(arena.check_inputs());
  View worker(arena);
  for (const BufferPlace& place : arena.layout().buffers) {
    if (place.role == BufferRole::input && place.bytes == 1000) {
      worker.at(place.offset + 700) = std::byte{2};
    }
  }
  ASSERT_TRUE(arena.check_inputs(0));
  EXPECT_EQ(arena.check_inputs(0)->element, 350);
  EXPECT_FALSE(arena.check_inputs(1));
}

TEST(Arena, OutputSnapshotDoesNotFollowLaterWrites) {
  const Arena arena(spec(2));
  const std::vector<std::byte> before = arena.read_output("out");
  View(arena).at(output_place(arena).offset) = std::byte{0};
  EXPECT_EQ(before.front(), std::byte{0xFF});
}

TEST(Arena, CannotBeShrunkUnderTheParent) {
  const Arena arena(spec(2));
  EXPECT_NE(ftruncate(arena.fd(), 0), 0);
  EXPECT_EQ(arena.read_output("out").size(), 333u);
}

TEST(Arena, EmptyBuffersAreAllowed) {
  const Arena arena({.buffers = {{.name = "x", .bytes = 0, .role = BufferRole::input},
                                 {.name = "y", .bytes = 0, .role = BufferRole::output}}});
  EXPECT_FALSE(arena.check_guards());
  EXPECT_FALSE(arena.check_inputs());
  EXPECT_TRUE(arena.read_output("y").empty());
}

TEST(Arena, FencedInputsEndWhereAPageDoes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  for (const std::int64_t bytes : {4, 4004, 16384, 70000}) {
    const Arena arena({.buffers = {{.name = "x", .bytes = bytes, .role = BufferRole::input},
                                   {.name = "y", .bytes = bytes, .role = BufferRole::output}},
                       .input_sets = 2,
                       .layout_seed = static_cast<std::uint64_t>(bytes),
                       .fenced = true});
    for (const BufferPlace& place : arena.layout().buffers) {
      const std::int64_t left = (page - (place.offset + place.bytes) % page) % page;
      EXPECT_TRUE(place.role != BufferRole::input || left < 64) << left;
      EXPECT_LE(place.offset + place.bytes + left + page, arena.layout().bytes) << "there is a page to close";
    }
  }
}

TEST(Arena, HashOfAnOutputReadsEveryPartOfItInAnyOrder) {
  for (const std::int64_t words : {1, 17, 1001, (1 << 20) + 5}) {
    Arena arena({.buffers = {{.name = "y", .bytes = 4 * words, .role = BufferRole::output}}});
    std::vector<std::uint32_t> y(static_cast<std::size_t>(words));
    std::iota(y.begin(), y.end(), 1u);
    std::vector<std::byte> memory(static_cast<std::size_t>(arena.layout().bytes));
    std::byte* output = memory.data() + arena.layout().buffers[0].offset;
    std::memcpy(output, y.data(), 4 * y.size());
    int seen = 0;
    constexpr int kOrders = 64;
    for (std::uint64_t order = 0; order < kOrders; ++order) {
      const std::uint64_t whole = hash_outputs(arena.layout(), memory.data(), order);
      EXPECT_EQ(whole, hash_outputs(arena.layout(), memory.data(), order));
      output[4 * (words - 1)] ^= std::byte{1};  // a word that a large output shows to one order in nine
      seen += hash_outputs(arena.layout(), memory.data(), order) != whole ? 1 : 0;
      output[4 * (words - 1)] ^= std::byte{1};
    }
    EXPECT_TRUE(words > 1 << 17 ? seen > 0 && seen < kOrders : seen == kOrders) << words << ": " << seen;
  }
}

}  // namespace
}  // namespace apo
