// tests/mcp/tools/root_test.cpp - files outside of the folder are refused, whatever leads there.
#include "harness/mcp/tools/root.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/core/error.h"
#include "harness/core/system/files.h"

namespace apo::mcp {
namespace {

namespace fs = std::filesystem;

class Roots : public ::testing::Test {
 protected:
  Roots() {
    fs::create_directories(inside() / "sub");
    fs::create_directories(folder_.path() / "inside-not");
    write_file_atomically(inside() / "sub" / "a.cpp", "a");
    write_file_atomically(folder_.path() / "secret.cpp", "s");
    write_file_atomically(folder_.path() / "inside-not" / "b.cpp", "b");
  }
  fs::path inside() const { return folder_.path() / "inside"; }
  std::string refusal(const std::string& path) const {
    try {
      return "took " + Root(inside()).file(path);
    } catch (const UserError& error) {
      return error.what();
    }
  }
  TemporaryFolder folder_;
};

TEST_F(Roots, FilesInsideAreFoundByAnyPath) {
  const Root root(inside());
  const std::string whole = fs::canonical(inside() / "sub" / "a.cpp").string();
  EXPECT_EQ(root.file("sub/a.cpp"), whole);
  EXPECT_EQ(root.file("./sub/../sub/a.cpp"), whole);
  EXPECT_EQ(root.file(whole), whole);
  fs::create_symlink("sub/a.cpp", inside() / "link.cpp");
  EXPECT_EQ(root.file("link.cpp"), whole);
}

TEST_F(Roots, PathsThatLeadOutsideAreRefused) {
  fs::create_symlink(folder_.path() / "secret.cpp", inside() / "link.cpp");
  fs::create_directory_symlink(folder_.path(), inside() / "up");
  for (const std::string& path :
       {std::string("../secret.cpp"), (folder_.path() / "secret.cpp").string(), std::string("link.cpp"),
        std::string("up/secret.cpp"), std::string("sub/../../secret.cpp"), std::string("../inside-not/b.cpp"),
        std::string("/etc/passwd"), std::string("../nothing-there.cpp"), std::string("/proc/self/environ")}) {
    EXPECT_NE(refusal(path).find("is outside of"), std::string::npos) << refusal(path);
  }
}

TEST_F(Roots, WhatIsNoFileIsRefused) {
  ASSERT_EQ(mkfifo((inside() / "pipe").c_str(), 0600), 0);
  for (const std::string path : {"", ".", "sub", "pipe", "nothing.cpp"}) {
    EXPECT_NE(refusal(path).find("is not a file"), std::string::npos) << refusal(path);
  }
  EXPECT_NE(refusal(std::string(5000, 'a')).find("'aaa"), std::string::npos);
}

}  // namespace
}  // namespace apo::mcp
