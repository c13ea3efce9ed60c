// tests/implement/variant/include_folders_test.cpp - headers of other people, which apo:include lines name.
#include <gtest/gtest.h>

#include "harness/implement/builder.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/nvrtc.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/implement/variant/headers.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;
namespace fs = std::filesystem;

constexpr const char* kUser =
    "// apo:include theirs\n#include \"deep/value.h\"\n"
    "void copy(const float* x, float* y, int64_t n) { while (n-- > 0) y[n] = value(x[n]); }\n";

class IncludeFolder : public ::testing::Test {
 protected:
  Build build(const std::string& text, const std::string& name = "mine.cpp") const {
    const fs::path file = write(folder_.path() / "copy" / name, text);
    const Builder builder({.cache = folder_.path() / "cache",
                           .home = APO_SOURCE_FOLDER,
                           .timeout_s = 1000,
                           .device = DeviceFacts{.major = 9, .sms = 100, .threads_per_block = 1024}});
    return builder.build(*find_family("copy"), load_variant(file.string()), {{"n", 32}}, {});
  }
  void write_value(const std::string& value) const {
    write(folder_.path() / "copy" / "theirs" / "deep" / "value.h", "#include \"more.h\"\n");
    write(folder_.path() / "copy" / "theirs" / "deep" / "more.h",
          "template <class T> T value(T x) { return " + value + "; }\n");
  }
  TemporaryFolder folder_;
};

TEST_F(IncludeFolder, IsSearchedByTheCompilerAndIsNoPartOfTheVariant) {
  write_value("x");
  const Build built = build(kUser);
  EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_TRUE(load_variant((folder_.path() / "copy" / "mine.cpp").string()).headers.empty());
}

TEST_F(IncludeFolder, AChangedHeaderIsAnotherBuild) {
  write_value("x");
  const Build first = build(kUser);
  EXPECT_TRUE(build(kUser).from_cache);
  write_value("x + 1");
  const Build second = build(kUser);
  EXPECT_FALSE(second.from_cache);
  EXPECT_NE(second.code_hash, first.code_hash);
}

TEST_F(IncludeFolder, OneThatVanishedIsOneClearError) {
  write_value("x");
  ASSERT_EQ(build(kUser).outcome, Outcome::valid);
  fs::remove_all(folder_.path() / "copy" / "theirs");
  const Build built = build(std::string("// apo:include theirs\n") +
                            "void copy(const float* x, float* y, int64_t n) { y[n - 1] = x[0]; }\n");
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  EXPECT_EQ(built.evidence, "the include folder 'theirs' of copy/mine is not there");
}

TEST_F(IncludeFolder, AHeaderElsewhereStaysForeign) {
  write_value("x");
  write(folder_.path() / "secret.h", "#define value(x) x\n");
  const std::string name = (folder_.path() / "secret.h").string();
  const Build built = build("// apo:include theirs\n__asm__(\".incbin \\\"" + name +
                            "\\\"\");\nvoid copy(const float* x, float* y, int64_t n) { y[n - 1] = x[0]; }\n");
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  expect_contains(built.evidence, "secret.h");
}

TEST_F(IncludeFolder, ARelativeOneIsRefusedByTheCatalogueWithTheAbsoluteName) {
  write_value("x");
  Catalogue catalogue;
  catalogue.load({folder_.path() / "registered"});
  const fs::path file = write(folder_.path() / "copy" / "mine.cpp", kUser);
  expect_contains(error_of([&] { catalogue.add(file); }),
                  "write '// apo:include " + fs::canonical(folder_.path() / "copy" / "theirs").string() + "'");
}

TEST_F(IncludeFolder, CcclIsTheToolkitsOwn) {
  if (include_folder("cccl", "").empty()) {
    EXPECT_EQ(build("// apo:include cccl\n").evidence,
              "copy/mine includes CCCL, and there is no CUDA toolkit with it here: install cuda-cccl-13-0, or set "
              "CUDA_HOME");
    return;
  }
  const Build built = build(
      "// apo:include cccl\n// apo:launch sum grid=1 block=32\n#include <cub/warp/warp_reduce.cuh>\n"
      "#include <cuda/std/limits>\n#include <cooperative_groups.h>\n#include \"copy.args.h\"\n"
      "extern \"C\" __global__ void sum(const copy_args a) {\n"
      "  __shared__ typename cub::WarpReduce<float>::TempStorage kept;\n"
      "  const float all = cub::WarpReduce<float>(kept).Sum(a.x[threadIdx.x]);\n"
      "  if (cooperative_groups::this_thread_block().thread_rank() == 0) a.y[0] = all;\n}\n",
      "sum.cu");
  EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
}

TEST_F(IncludeFolder, ADeviceVariantTakesHeadersFromThere) {
  if (Nvrtc::load() == nullptr && find_toolkit_program("nvcc").empty()) {
    GTEST_SKIP() << "no compiler for cuda here";
  }
  write_value("x");
  const std::string text =
      "// apo:include theirs\n// apo:launch k grid=1 block=1\n#include \"deep/value.h\"\n"
      "#include \"copy.args.h\"\nextern \"C\" __global__ void k(const copy_args a) {\n"
      "  a.y[0] = value(a.x[0]);\n}\n";
  const Build first = build(text, "device.cu");
  ASSERT_EQ(first.outcome, Outcome::valid) << first.evidence << first.log;
  EXPECT_TRUE(build(text, "device.cu").from_cache);
  write_value("x + 1");
  EXPECT_NE(build(text, "device.cu").code_hash, first.code_hash);
}

}  // namespace
}  // namespace apo
