// tests/evaluate/correctness/sanitizer_log_test.cpp - logs as compute-sanitizer writes them, and as it never should.
#include "harness/evaluate/correctness/sanitizer_log.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

// NVIDIA/cuCollections issue 539 (Compute Sanitizer of CUDA 12), its frames shortened.
constexpr const char* kOutOfBounds = R"(========= COMPUTE-SANITIZER
Randomness seeded to: 840931458
========= Invalid __global__ write of size 1 bytes
=========     at assign_value<bool>(bool *, bool)::device_path(bool *)+0xd0 in /home/user/assign_value.h:58
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7b3c42e0000a is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7b3c42e00000 of size 10 bytes
=========     Device Frame:void assign_value<bool>(bool *, bool)+0xd0 in /home/user/assign_value.h:62
=========     Device Frame:fill_kernel(bool *)+0xd0 in /home/user/fill.cu:9
=========
========= ERROR SUMMARY: 1 error
)";

// NVIDIA's manual, "Racecheck Tool": block_error of the samples.
constexpr const char* kRace = R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sumKernel(int *, int *)+0x90 in block_error.cu:41
=========     and Read access at sumKernel(int *, int *)+0x100 in block_error.cu:51 [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";

TEST(SanitizerLog, AnOutOfBoundsWriteIsOneSentenceWithItsPlace) {
  const SanitizerLog log = read_sanitizer_log("memcheck", kOutOfBounds);
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 1);
  EXPECT_EQ(log.finding,
            "Invalid __global__ write of size 1 bytes at assign_value<bool>(bool *, bool)::device_path(bool *) in "
            "/home/user/assign_value.h:58 called from fill_kernel(bool *) in /home/user/fill.cu:9 by thread (0,0,0) in "
            "block (0,0,0), 1 bytes after the nearest allocation of size 10 bytes");
}

TEST(SanitizerLog, ARaceNamesBothAccesses) {
  const SanitizerLog log = read_sanitizer_log("racecheck", kRace);
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 1);
  EXPECT_EQ(log.finding,
            "race between Write access at sumKernel(int *, int *) in block_error.cu:41 and Read access at "
            "sumKernel(int *, int *) in block_error.cu:51 [508 hazards]");
}

// kokkos/kokkos issue 6217, shortened: hazards that the tool only warns of.
TEST(SanitizerLog, WarningsOfRacecheckAreCountedAndNoErrors) {
  const SanitizerLog log =
      read_sanitizer_log("racecheck",
                         "========= COMPUTE-SANITIZER\n"
                         "========= Warning: Race reported between Read access at 0x1f20 in Range.hpp:249:reduce()\n"
                         "=========     and Write access at 0x14b0 in Scan.hpp:349:scan() [4 hazards]\n"
                         "========= \nTest complete\n"
                         "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n");
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 0);
  EXPECT_EQ(log.warnings, 1);
  EXPECT_EQ(log.finding, "");
}

// NVIDIA/cccl issue 2104: the form before 2023.
TEST(SanitizerLog, TheOldOrderOfPlaceAndKernelIsRead) {
  const SanitizerLog log = read_sanitizer_log(
      "initcheck",
      "========= COMPUTE-SANITIZER\n"
      "========= Uninitialized __global__ memory read of size 4 bytes\n"
      "=========     at 0xa0a50 in /usr/local/cuda/include/cub/thread_load.cuh:272:ThreadLoad<const unsigned int *>\n"
      "=========     by thread (30,0,0) in block (1,0,0)\n"
      "=========     Address 0x7f65e5204710\n"
      "========= ERROR SUMMARY: 257 errors\n"
      "========= ERROR SUMMARY: 157 errors were not printed. Use --print-limit option to adjust the number of printed "
      "errors\n");
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 257);
  EXPECT_EQ(log.finding,
            "Uninitialized __global__ memory read of size 4 bytes at ThreadLoad<const unsigned int *> in "
            "/usr/local/cuda/include/cub/thread_load.cuh:272 by thread (30,0,0) in block (1,0,0)");
}

// Compute Sanitizer 2025.1.
TEST(SanitizerLog, ABarrierErrorNamesTheKernelThatCalledTheBarrier) {
  const SanitizerLog log =
      read_sanitizer_log("synccheck",
                         "========= COMPUTE-SANITIZER\n"
                         "========= Barrier error detected. Invalid arguments.\n"
                         "=========     at __syncwarp(unsigned int)+0xe0 in sm_30_intrinsics.hpp:110\n"
                         "=========         Device Frame: broken_sync(float *, unsigned long)+0xb0 in kernel.cu:12\n"
                         "========= Target application returned an error\n"
                         "========= ERROR SUMMARY: 17 errors\n");
  EXPECT_EQ(log.errors, 17);
  EXPECT_EQ(log.finding,
            "Barrier error detected. Invalid arguments at __syncwarp(unsigned int) in sm_30_intrinsics.hpp:110 called "
            "from broken_sync(float *, unsigned long) in kernel.cu:12");
}

TEST(SanitizerLog, ACleanLogIsCompleteAndHasNoFinding) {
  for (const auto& [tool, summary] : {std::pair{"memcheck", "ERROR SUMMARY: 0 errors"},
                                      {"synccheck", "ERROR SUMMARY: 0 errors"},
                                      {"racecheck", "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"}}) {
    const SanitizerLog log =
        read_sanitizer_log(tool, std::string("========= COMPUTE-SANITIZER\n========= ") + summary + "\n");
    EXPECT_TRUE(log.complete) << tool;
    EXPECT_EQ(log.errors, 0) << tool;
    EXPECT_EQ(log.finding, "") << tool;
  }
}

TEST(SanitizerLog, WithoutTheToolsOwnSummaryItIsNotComplete) {
  EXPECT_FALSE(read_sanitizer_log("memcheck", "").complete);
  EXPECT_FALSE(read_sanitizer_log("memcheck", "========= COMPUTE-SANITIZER\n").complete);
  EXPECT_FALSE(read_sanitizer_log("racecheck", "========= ERROR SUMMARY: 0 errors\n").complete);
  EXPECT_FALSE(read_sanitizer_log("memcheck", kRace).complete);
  EXPECT_FALSE(read_sanitizer_log("memcheck", "ERROR SUMMARY: 0 errors\n").complete) << "printed by the candidate";
}

TEST(SanitizerLog, AToolThatFailedIsNotClean) {
  const SanitizerLog late = read_sanitizer_log(
      "memcheck",
      "========= COMPUTE-SANITIZER\n"
      "========= Error: No attachable process found. compute-sanitizer timed-out.\n"
      "========= Default timeout can be adjusted with --launch-timeout. Awaiting target completion.\n"
      "========= ERROR SUMMARY: 0 errors\n");
  EXPECT_FALSE(late.complete);
  EXPECT_EQ(late.trouble, "Error: No attachable process found. compute-sanitizer timed-out.");
  EXPECT_FALSE(read_sanitizer_log("memcheck",
                                  "========= Internal Sanitizer Error: The Sanitizer encountered an error\n"
                                  "========= ERROR SUMMARY: 0 errors\n")
                   .complete);
}

TEST(SanitizerLog, ALaterCleanSummaryHidesNoErrors) {
  EXPECT_EQ(
      read_sanitizer_log("memcheck", "========= ERROR SUMMARY: 4 errors\n========= ERROR SUMMARY: 0 errors\n").errors,
      4);
}

TEST(SanitizerLog, ErrorsThatNoLineDescribesAreStillAFinding) {
  const SanitizerLog log =
      read_sanitizer_log("memcheck", "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 3 errors\n");
  EXPECT_EQ(log.finding, "3 errors that its log does not describe");
}

}  // namespace
}  // namespace apo
