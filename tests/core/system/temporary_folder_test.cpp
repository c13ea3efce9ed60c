// tests/core/system/temporary_folder_test.cpp - what killed programs leave is removed, and nothing else is.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "tests/processes.h"
#include "tests/text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

// $TMPDIR is a folder of the test's own for as long as this lives.
class OwnPlace {
 public:
  OwnPlace() : before_(std::getenv("TMPDIR") == nullptr ? std::nullopt : std::optional(std::getenv("TMPDIR"))) {
    set(folder_.path());
  }
  ~OwnPlace() { before_ ? set(*before_) : static_cast<void>(unsetenv("TMPDIR")); }
  OwnPlace(const OwnPlace&) = delete;
  OwnPlace& operator=(const OwnPlace&) = delete;
  const fs::path& path() const { return folder_.path(); }
  static void set(const fs::path& place) { setenv("TMPDIR", place.c_str(), 1); }

 private:
  TemporaryFolder folder_{"apo-place"};
  std::optional<std::string> before_;
};

// A process that has made a folder with a file in it, forked another one if asked to, and waits to be killed.
class Owner {
 public:
  enum class Forks { no, yes };
  explicit Owner(Forks forks = Forks::no) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    process_ = fork();
    if (process_ == 0) {
      const TemporaryFolder folder("apo-worker");
      std::ofstream(folder.path() / "slot0.so") << "code";
      const pid_t forked = forks == Forks::yes ? fork() : -1;
      const std::string told = std::to_string(forked) + " " + folder.path().string();
      if (forked == 0 || write(ends[1], told.data(), told.size()) > 0) {
        while (true) {
          pause();
        }
      }
      _exit(1);
    }
    std::array<char, 4096> told{};
    EXPECT_GT(read(ends[0], told.data(), told.size() - 1), 0);
    std::istringstream(told.data()) >> forked_ >> folder_;
    close(ends[0]);
    close(ends[1]);
  }
  ~Owner() {
    kill_it();
    kill_forked();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  void kill_it() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
      process_ = -1;
    }
  }
  void kill_forked() {
    if (forked_ > 0) {
      kill(forked_, SIGKILL);
      forked_ = -1;
    }
  }
  fs::path folder() const { return folder_; }

 private:
  pid_t process_ = -1;
  pid_t forked_ = -1;
  std::string folder_;
};

TEST(TemporaryFolder, OfAKilledProgramIsRemovedAndThatOfALivingOneIsNot) {
  const OwnPlace place;
  Owner killed;
  const Owner living;
  const TemporaryFolder own;
  killed.kill_it();
  ASSERT_TRUE(fs::exists(killed.folder() / "slot0.so"));
  remove_abandoned_folders(place.path());
  EXPECT_FALSE(fs::exists(killed.folder()));
  EXPECT_TRUE(fs::exists(living.folder() / "slot0.so"));
  EXPECT_TRUE(fs::exists(own.path()));
}

TEST(TemporaryFolder, IsKeptAsLongAsAProcessLivesThatItsOwnerForked) {
  const OwnPlace place;
  Owner killed(Owner::Forks::yes);
  killed.kill_it();
  remove_abandoned_folders(place.path());
  EXPECT_TRUE(fs::exists(killed.folder()));
  killed.kill_forked();
  EXPECT_TRUE(testing::comes_about([&] {  // nobody here can wait for a grandchild
    remove_abandoned_folders(place.path());
    return !fs::exists(killed.folder());
  }));
}

TEST(TemporaryFolder, IsKeptWhenItsOwnerMovesIt) {
  const OwnPlace place;
  TemporaryFolder made;
  const TemporaryFolder moved(std::move(made));
  remove_abandoned_folders(place.path());
  EXPECT_TRUE(fs::exists(moved.path()));
}

TEST(TemporaryFolder, WhatOnlyLooksLikeOneIsNeverRemoved) {
  const OwnPlace place;
  const auto folder = [&](const char* name, mode_t mode) {
    fs::create_directory(place.path() / name);
    std::ofstream(place.path() / name / "precious") << "x";
    chmod((place.path() / name).c_str(), mode);
    return place.path() / name / "precious";
  };
  const fs::path of_a_user = folder("apo.backup", 0700);
  const fs::path shared = folder("apo-worker.abc123", 01777);
  const fs::path other_name = folder("apollo.abc123", 01700);
  const fs::path target = folder("elsewhere", 01700);
  fs::create_directory_symlink(place.path() / "elsewhere", place.path() / "apo.link12");
  std::ofstream(place.path() / "apo.file12") << "x";
  remove_abandoned_folders(place.path());
  for (const fs::path& path : {of_a_user, shared, other_name, target, place.path() / "apo.file12"}) {
    EXPECT_TRUE(fs::exists(path)) << path;
  }
  EXPECT_TRUE(fs::is_symlink(place.path() / "apo.link12"));
}

TEST(TemporaryFolder, LinksInAnAbandonedOneAreRemovedAndTheirTargetsAreNot) {
  const OwnPlace place;
  const TemporaryFolder elsewhere;
  std::ofstream(elsewhere.path() / "precious") << "x";
  Owner killed;
  fs::create_directory_symlink(elsewhere.path(), killed.folder() / "link");
  killed.kill_it();
  remove_abandoned_folders(place.path());
  EXPECT_FALSE(fs::exists(killed.folder()));
  EXPECT_TRUE(fs::exists(elsewhere.path() / "precious"));
}

TEST(TemporaryFolder, APlaceThatIsNotThereIsNamed) {
  const OwnPlace place;
  OwnPlace::set(place.path() / "absent");
  const std::string error = error_of<EnvironmentError>([] { const TemporaryFolder folder; });
  expect_contains(error, (place.path() / "absent").string());
  expect_contains(error.substr(error.find(" | ")), "TMPDIR");
}

}  // namespace
}  // namespace apo
