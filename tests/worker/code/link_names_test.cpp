// tests/worker/code/link_names_test.cpp - the libraries that an object names, of real, foreign and damaged files.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/worker/code/code_watch.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

// A library of its own name that needs libm, and one that has no name.
struct LinkNamesTest : ::testing::Test {
  fs::path build(const std::string& file, const std::vector<std::string>& flags) const {
    write_file_atomically(folder.path() / "a.c", "int one(void) { return 1; }\n");
    std::vector<std::string> command = {"g++", "-shared", "-fPIC", "-Wl,--no-as-needed", "a.c", "-o", file};
    command.insert(command.end(), flags.begin(), flags.end());
    const ProcessResult result = run_process(command, {.working_folder = folder.path().string()});
    EXPECT_TRUE(result.ok()) << result.error;
    return folder.path() / file;
  }
  TemporaryFolder folder{"apo-link-names"};
};

TEST_F(LinkNamesTest, AreReadFromTheFile) {
  const LinkNames names = read_link_names(build("other.so", {"-Wl,-soname,libown.so.7", "-lm"}));
  EXPECT_EQ(names.own, "libown.so.7");
  EXPECT_EQ(std::ranges::count(names.needed, "libm.so.6"), 1);
  EXPECT_EQ(std::ranges::count(names.needed, "libown.so.7"), 0);
}

TEST_F(LinkNamesTest, AnObjectWithoutAnOwnNameHasThatOfItsFile) {
  EXPECT_EQ(read_link_names(build("plain.so", {})).own, "plain.so");
}

TEST_F(LinkNamesTest, OfADamagedFileThereAreNone) {
  const fs::path whole = build("whole.so", {"-lm"});
  const std::string bytes = read_file(whole);
  const fs::path damaged = folder.path() / "damaged.so";
  for (const std::size_t kept : {std::size_t{0}, std::size_t{3}, std::size_t{63}, std::size_t{64}, bytes.size() / 8}) {
    write_file_atomically(damaged, bytes.substr(0, kept));
    EXPECT_TRUE(read_link_names(damaged).needed.empty()) << kept;
  }
  std::string wild = bytes;
  std::fill(wild.begin() + 64, wild.begin() + 64 + 56 * 8, '\xff');  // the program headers
  write_file_atomically(damaged, wild);
  EXPECT_TRUE(read_link_names(damaged).needed.empty());
  EXPECT_EQ(read_link_names(folder.path() / "nothing.so").own, "nothing.so");
}

}  // namespace
}  // namespace apo
