// tests/cli/bring/tvm_ffi_test.cpp - `apo register` of shared objects with the TVM-FFI ABI.
#include <gtest/gtest.h>

#include "journal/journal.h"
#include "tests/cli/workplace.h"
#include "tests/implement/ffi_objects.h"

namespace apo {
namespace {

using namespace test;
using Words = std::vector<std::string>;

TEST(TvmFfiRegister, AnObjectPassesTheGatesAndANewOneIsANewVersion) {
  const Workplace place;
  const auto path = ffi_object(place.path("mine.so"), kFfiCopy);
  const Ran ran = place.apo({"register", "--family", "copy", "mine.so"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* gate : {"metadata: valid", "build: valid", "correctness: valid", "sanitizers: valid"}) {
    EXPECT_NE(ran.out.find(gate), std::string::npos) << gate << " not in " << ran.out;
  }
  const std::string first = read_file(path);
  EXPECT_EQ(read_file(place.path(".apo/variants/copy/mine/mine.so")), first);

  ffi_object(path, std::string(kFfiCopy) + "int more = 1;\n");
  const Ran changed = place.apo({"register", "--family", "copy", "mine.so", "--no-verify"});
  EXPECT_NE(changed.out.find("copy/mine@2 registered: "), std::string::npos) << changed.out << changed.err;
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  const auto newest = journal.newest_variant("copy/mine");
  ASSERT_TRUE(newest);
  EXPECT_EQ(journal.variant_version(*newest), 2);
  EXPECT_EQ(newest->headers.at(0).text, read_file(path));

  const Ran shown = place.apo({"show", "copy/mine", "--source"});
  EXPECT_NE(shown.out.find("copy of mine.so, by TVM-FFI"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("(binary, "), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find('\0'), std::string::npos);
  EXPECT_NE(place.apo({"gate", "--store", "base.json", "copy/mine"}).err.find("a baseline file cannot hold"),
            std::string::npos);
}

TEST(TvmFfiRegister, AnObjectThatFailsAGateLeavesNothing) {
  const Workplace place;
  const std::string wrong = replaced(kFfiCopy, "x.data)[i]", "x.data)[0]");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {wrong, "correctness: incorrect"}, {"EXPORT(copy) { *(volatile int*)8 = n; return 0; }", "SIGSEGV"}};
  for (const auto& [code, finding] : cases) {
    ffi_object(place.path("bad.so"), code);
    const Ran ran = place.apo({"register", "--family", "copy", "bad.so"});
    EXPECT_EQ(ran.exit_code, 3) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(finding), std::string::npos) << finding << " not in " << ran.out;
  }
  place.write("text.so", "no object");
  EXPECT_EQ(place.apo({"register", "--family", "copy", "text.so"}).exit_code, 1);
  EXPECT_TRUE(is_absent(place.path(".apo/variants")));
  EXPECT_TRUE(is_absent(place.path(".apo/journal.db")));
}

}  // namespace
}  // namespace apo
