// tests/core/system/files_test.cpp - atomic writes, temporary folders, hashes and .npy files.
#include "harness/core/system/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/npy.h"
#include "tests/text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Files, AWriteReplacesTheWholeFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "deep" / "file";
  write_file_atomically(path, "first, and long");
  write_file_atomically(path, "second");
  EXPECT_EQ(read_file(path), "second");
  EXPECT_EQ(entries_in(path.parent_path()), 1U) << "a temporary file was left behind";
}

TEST(Files, AFailedWriteKeepsTheOldFileAndLeavesNoHalf) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "file";
  write_file_atomically(path, "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tiny{.rlim_cur = 16, .rlim_max = before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);  // the write then fails with EFBIG, as on a full disk with ENOSPC
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  EXPECT_THROW(write_file_atomically(path, std::string(1000, 'x')), EnvironmentError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(Files, OfSeveralWritesNoneHappensWhenOneCannot) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "taken");
  write_file_atomically(folder.path() / "first", "old");
  EXPECT_THROW(write_files_atomically({{folder.path() / "first", "new"}, {folder.path() / "taken", "new"}}),
               EnvironmentError);
  EXPECT_EQ(read_file(folder.path() / "first"), "old");
  EXPECT_EQ(entries_in(folder.path()), 2U) << "a temporary file was left behind";
  write_files_atomically({{folder.path() / "first", "new"}, {folder.path() / "second", "two"}});
  EXPECT_EQ(read_file(folder.path() / "first"), "new");
  EXPECT_EQ(read_file(folder.path() / "second"), "two");
}

TEST(Files, AWriteReplacesNoDeviceAndNoLink) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file_atomically(folder.path() / "pipe", "x"), EnvironmentError);
  EXPECT_THROW(check_writable(folder.path() / "pipe"), EnvironmentError);
  EXPECT_TRUE(fs::is_fifo(folder.path() / "pipe"));
  write_file_atomically(folder.path() / "file", "old");
  fs::create_symlink("file", folder.path() / "link");
  write_file_atomically(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_file(folder.path() / "file"), "new");
}

TEST(Files, CheckingThatAFileCanBeWrittenLeavesItAsItIs) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "old");
  check_writable(folder.path() / "file");
  check_writable(folder.path() / "absent");
  EXPECT_EQ(read_file(folder.path() / "file"), "old");
  EXPECT_EQ(entries_in(folder.path()), 1U);
  EXPECT_THROW(check_writable(folder.path()), EnvironmentError);
}

TEST(Files, ReadingAFolderOrNothingNamesThePath) {
  const TemporaryFolder folder;
  for (const fs::path& path : {folder.path(), folder.path() / "absent"}) {
    expect_contains(error_of([&] { read_file(path); }), path.string());
  }
}

TEST(Files, WhatCannotBeReadToItsEndIsNeverAShorterFile) {
  EXPECT_THROW(read_file("/proc/self/mem"), UserError);  // its first byte is an I/O error
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "big") << "{}";
  fs::resize_file(folder.path() / "big", (std::uintmax_t{1} << 31) + 1);
  EXPECT_THROW(read_file(folder.path() / "big"), UserError);
  EXPECT_FALSE(read_file("/proc/self/stat").empty()) << "a file that does not say its size";
}

TEST(Files, OfAnotherProgramAreReadWhereTheyAreNoLinksNorPipesNorTooLong) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "12345678");
  fs::create_symlink(folder.path() / "file", folder.path() / "link");
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_foreign_file(folder.path() / "file", 8), "12345678");
  EXPECT_THROW(read_foreign_file(folder.path() / "file", 7), UserError);
  for (const char* const name : {"link", "pipe", ".", "absent"}) {
    EXPECT_THROW(read_foreign_file(folder.path() / name, 8), UserError) << name;
  }
}

TEST(Files, ATemporaryFolderIsGoneWithItsContents) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::ofstream(path / "x") << "y";
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Hash, IsTheSha256OfTheStandardsExample) {
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, PartsDoNotRunTogether) {
  const std::array<std::string, 2> one = {"ab", "c"};
  const std::array<std::string, 2> other = {"a", "bc"};
  EXPECT_NE(sha256_of_parts(one), sha256_of_parts(other));
}

TEST(Npy, ValuesAndShapeComeBack) {
  const TemporaryFolder folder;
  const std::vector<double> values = {0.0, -1.5, 3e-5, 1e30, 7.0, 8.0};
  write_npy(folder.path() / "a.npy", {2, 3}, values);
  const NpyArray array = read_npy(folder.path() / "a.npy");
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(array.values, values);
}

TEST(Npy, DataStartOnAMultipleOf64Bytes) {
  const TemporaryFolder folder;
  write_npy(folder.path() / "a.npy", {1}, {1.0});
  EXPECT_EQ(read_file(folder.path() / "a.npy").size() % 64, 8U);
}

TEST(Npy, BrokenFilesAreRefusedWithTheirName) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npy";
  write_npy(path, {2, 3}, std::vector<double>(6, 1.0));
  const std::string good = read_file(path);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& bad :
       {std::string(), std::string("hello"), good.substr(0, 9), good.substr(0, 40), good.substr(0, good.size() - 1),
        good + "x", replaced("<f8", "<c8"), replaced("False", "True "), replaced("(2,3,)", "(9,9,)"),
        replaced("(2,3,)", "(-2,3)")}) {
    write_file_atomically(path, bad);
    const std::string error = error_of([&] { read_npy(path); });
    EXPECT_NE(error.find(path.string()), std::string::npos) << bad.substr(0, 60);
  }
}

}  // namespace
}  // namespace apo
