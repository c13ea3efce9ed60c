// tests/implement/tvm_ffi_test.cpp - calls of functions with the TVM-FFI ABI, as the builder makes them.
#include "harness/implement/tvm_ffi.h"

#include <dlfcn.h>

#include "harness/implement/builder.h"
#include "tests/implement/ffi_objects.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

class TvmFfi : public ::testing::Test {
 protected:
  Build build(const std::string& code, const std::string& target = "host") const {
    ffi_object(folder_.path() / "kernel.so", code);
    const std::string block = "// apo:target " + target + "\n// apo:ffi kernel.so\n";
    return builder_.build(*find_family("copy"),
                          load_variant(write(folder_.path() / "kernel.cpp", block).string(), {}, "copy"), {{"n", 3}},
                          {});
  }
  // Of three numbers; throws what the call throws.
  static std::vector<float> run(const std::string& object) {
    const auto [answer, y] = call_copy(object);
    EXPECT_EQ(answer, 0);
    return y;
  }
  TemporaryFolder folder_;
  Builder builder_{{.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .timeout_s = 1000}};
};

TEST_F(TvmFfi, FunctionGetsDenseTensorsOfTheContract) {
  const Build built = build(R"(EXPORT(copy) {
    for (int k = 0; k < 2; ++k) {
      const Tensor& t = *static_cast<Tensor*>(a[k].p);
      if (n != 2 || t.device_type != 1 || t.dimensions != 1 || t.code != 2 || t.bits != 32 || t.lanes != 1 ||
          t.shape[0] != 3 || t.strides[0] != 1 || t.offset != 0 || result->type != 0) return k + 1;
      static_cast<float*>(t.data)[0] += static_cast<float>(k);
    }
    return 0;
  })");
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_FALSE(built.plan.library);
  EXPECT_EQ(run(built.object_path), (std::vector<float>{1, 0, 0}));
}

TEST_F(TvmFfi, ArgumentsAreInputsScalarsAndOutputsOfTheirTypes) {
  const auto shape = [](const Axes&) { return std::vector<std::int64_t>{4, 5, 6}; };
  Family family = {.name = "many"};
  family.tensors = {{"out", DType::e4m3, Role::output, "", shape, ""}, {"in", DType::bf16, Role::input, "", shape, ""}};
  family.scalars = {{"eps", DType::f32, 0.5, ""}, {"causal", DType::boolean, 1, ""}, {"window", DType::i32, -7, ""}};
  Variant variant{.family = "many", .name = "k", .target = Target::cuda, .object = "k.so", .function = "f"};
  variant.headers = {{.name = "k.so", .text = "bytes", .path = ""}};
  const std::string text = ffi_sources(family, variant, {}).front().text;
  const std::string order = R"(    tin.argument(pointers[0], apo_ffi::kCuda, device, {4, 16, 1}),
    {apo_ffi::kNumber, 0, {.number = 0x1p-1}},
    {apo_ffi::kBoolean, 0, {.integer = 1}},
    {apo_ffi::kInteger, 0, {.integer = -7}},
    tout.argument(pointers[1], apo_ffi::kCuda, device, {10, 8, 1}),
  };
  apo_ffi::set_stream(device, call->stream);
  apo_ffi::call(__tvm_ffi_f, arguments, 5);)";
  expect_contains(text, order);
  expect_contains(text, "apo_ffi::DenseTensor<3> tin = {{4, 5, 6}};");
}

TEST_F(TvmFfi, ErrorIsAnExceptionWithTheTextThatTheLibraryKeeps) {
  // The function of libtvm_ffi.so, here one of the object's own.
  const std::string raise = R"(#include <cstring>
    static struct { uint64_t count; int32_t type; uint32_t pad; void* deleter;
                    const char* kind; uint64_t kind_size; const char* what; uint64_t size; } error;
    extern "C" void TVMFFIErrorMoveFromRaised(void** out) {
      error.kind = "ValueError"; error.kind_size = 10; error.what = "x has 3 elements"; error.size = 16; *out = &error; }
    extern "C" int TVMFFIObjectDecRef(void*) { return 0; }
  )";
  const auto error_of_call = [&](const std::string& code) {
    const Build built = build(code);
    try {
      run(built.object_path);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of_call(raise + "EXPORT(copy) { return -n; }"), "ValueError: x has 3 elements");
  EXPECT_EQ(error_of_call("EXPORT(copy) { return -n; }"), "the function returned -2");
  expect_contains(error_of_call("extern int none_has_this; EXPORT(copy) { return none_has_this + n; }"),
                  "undefined symbol: none_has_this");
}

TEST_F(TvmFfi, ObjectsOfOneNameMeetInAProcess) {
  const auto code = [](const std::string& add) {
    return "EXPORT(copy) { static_cast<float*>(static_cast<Tensor*>(a[1].p)->data)[0] = " + add + "; return n - 2; }";
  };
  const auto soname = [&](const std::string& add) {
    ffi_object(folder_.path() / "kernel.so", code(add), {"-shared", "-Wl,-soname,libc.so.6"});
    return builder_.build(*find_family("copy"), load_variant((folder_.path() / "kernel.so").string(), {}, "copy"),
                          {{"n", 3}}, {});
  };
  const Build first = soname("10");
  const Build second = soname("20");
  EXPECT_NE(first.code_hash, second.code_hash);
  void* keep = dlopen(first.object_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(keep, nullptr) << dlerror();
  EXPECT_EQ(run(second.object_path).front(), 20);
  EXPECT_EQ(run(first.object_path).front(), 10);
  dlclose(keep);
}

TEST_F(TvmFfi, BuildComesFromTheCacheAndCanBeLinkedInAnotherOrder) {
  const Build first = build(kFfiCopy);
  const Build again = build(kFfiCopy);
  EXPECT_TRUE(again.from_cache);
  const TemporaryFolder round("apo-round");
  EXPECT_EQ(run(builder_.relink(again, 7, round.path()).object_path), (std::vector<float>{1, 2, 3}));
}

TEST_F(TvmFfi, GpuBuildIsALibraryVariantThatNeedsNoCompilerOfCuda) {
  const Build built = build(kFfiCopy, "cuda");
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_TRUE(built.plan.library);
}

}  // namespace
}  // namespace apo
