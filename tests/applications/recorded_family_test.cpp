// tests/applications/recorded_family_test.cpp - what a kernel's types say, and the files made of a launch.
#include "harness/applications/recorded_family.h"

#include <gtest/gtest.h>

#include <cstring>

#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "tests/text.h"

namespace apo {
namespace {

// y of n floats is written from x, both in one memory with room behind them.
constexpr std::int64_t kCount = 100;
constexpr std::int64_t kMemory = 1024;

ProgramCall launch_of(const std::string& symbol) {
  std::string parameters(20, '\0');
  const int n = kCount;
  std::memcpy(parameters.data() + 16, &n, sizeof n);
  const RecordedKernel kernel{.module = 0,
                              .name = symbol,
                              .grid = {4, 1, 1},
                              .block = {32, 1, 1},
                              .parameters = base64(parameters),
                              .places = {{.parameter = 0, .memory = 0}, {.parameter = 8, .memory = 0, .offset = 512}}};
  ProgramCall call{.program = "./train 3", .refusal = "", .written = {{{512, 700}, {760, 912}}}, .call = {}};
  call.results = {std::string(188 + 152, 'r')};
  call.call.operations = {{.kernel = kernel}};
  call.call.modules = {{.image = "cubin", .variables = {}}};
  call.call.memory = {{.bytes = kMemory, .contents = std::string(kMemory, 'x')}};
  return call;
}
constexpr const char* kScale = "_Z5scalePKfPfi";  // scale(float const*, float*, int)

RecordedFamily scale() {
  return recorded_family(launch_of(kScale), {.name = "scale", .declaration = "", .elements = {}});
}

TEST(KernelSignatures, AreReadFromSymbolsAndDeclarations) {
  for (const char* const text :
       {kScale, "scale(const float* p0, float* p1, int p2)", "scale(float const*, float *__restrict__, int)",
        "extern \"C\" __global__ void scale(const float* __restrict__ p0, float* p1, int p2)",
        "scale(const float* p0,\n      float* p1, int p2)"}) {
    const KernelSignature signature = kernel_signature(text);
    EXPECT_EQ(signature.name, "scale") << text;
    EXPECT_EQ(signature.parameters,
              (std::vector<KernelParameter>{{.type = "float", .name = "p0", .is_pointer = true, .is_const = true},
                                            {.type = "float", .name = "p1", .is_pointer = true, .offset = 8},
                                            {.type = "int", .name = "p2", .dtype = DType::i32, .offset = 16}}))
        << text;
  }
  const KernelSignature of_template =
      kernel_signature("void (anonymous namespace)::norm<__half, 4>(__half*, long, bool)");
  EXPECT_EQ(of_template.name, "(anonymous namespace)::norm<__half, 4>");
  EXPECT_EQ(of_template.parameters.at(0).dtype, DType::f16);
  EXPECT_EQ(of_template.parameters.at(2).offset, 16);
}

TEST(KernelSignatures, OfOtherTypesAreRefusedByTheParameter) {
  for (const auto& [text, words] : {std::pair{"f(at::Params, int)", "parameter 0 is 'at::Params'"},
                                    {"f(int, float**)", "parameter 1 is 'float**'"},
                                    {"f", "does not say what parameters"}}) {
    try {
      kernel_signature(text);
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      expect_contains(error.what(), words);
    }
  }
}

TEST(RecordedFamilies, HaveTheTensorsOfTheKernelsTypes) {
  const RecordedFamily family = scale();
  ASSERT_EQ(family.tensors.size(), 2U);
  EXPECT_FALSE(family.tensors[0].is_written);
  EXPECT_EQ(family.tensors[0].elements, 512 / 4) << "up to the next one";
  EXPECT_TRUE(family.tensors[1].is_written);
  EXPECT_EQ(family.tensors[1].elements, kCount) << "up to the last byte that was written";
  EXPECT_EQ(family.tensors[1].bytes, std::string(4 * kCount, 'x')) << "as the call found it";
  EXPECT_EQ(family.tensors[1].result, std::string(188, 'r') + std::string(60, 'x') + std::string(152, 'r'));
}

TEST(RecordedFamilies, RunOnTheirTensorsAsArguments) {
  const RecordedFamily family = scale();
  EXPECT_TRUE(family.call.memory.empty());
  const std::vector<RecordedPlace>& places = family.call.operations.front().kernel->places;
  EXPECT_EQ(places[0], (RecordedPlace{.parameter = 0, .argument = 0}));
  EXPECT_EQ(places[1], (RecordedPlace{.parameter = 8, .argument = 1}));
  EXPECT_TRUE(decode_recorded_call(encode(family.call)));
}

TEST(RecordedFamilies, ADeclarationNamesAndElementsShorten) {
  const RecordedFamily family =
      recorded_family(launch_of("scale"),
                      {.name = "s", .declaration = "scale(const float* x, float* y, int n)", .elements = {{"x", 100}}});
  EXPECT_EQ(family.tensors[0].name, "x");
  EXPECT_EQ(family.tensors[0].elements, kCount);
  EXPECT_THROW(recorded_family(launch_of(kScale), {.name = "s", .declaration = "", .elements = {{"z", 1}}}), UserError);
}

TEST(RecordedFamilies, OfAKernelWithoutTypesOrWithTooManyAreRefused) {
  EXPECT_THROW(recorded_family(launch_of("scale"), {.name = "s", .declaration = "", .elements = {}}), UserError);
  try {
    recorded_family(launch_of("scale"),
                    {.name = "s", .declaration = "scale(const float*, float*, int, double eps)", .elements = {}});
    ADD_FAILURE();
  } catch (const UserError& error) {
    expect_contains(error.what(), "has 20 bytes of parameters, and 'eps' lies behind them");
  }
}

// A range of the launch with the symbol, and of one that says nothing of its types.
ProgramCall range_of(const std::string& symbol) {
  ProgramCall call = launch_of(symbol);
  call.call.operations.push_back(call.call.operations.front());
  call.call.operations.back().kernel->name = "untyped";
  return call;
}
constexpr const char* kConvert = "_Z7convertPKiPfi";  // convert(int const*, float*, int)

RecordedFamily step_of(const ProgramCall& call) {
  return recorded_family(call, {.name = "step", .declaration = "", .elements = {}});
}

TEST(RecordedFamilies, OfARangeTakeTheTypesOfItsKernels) {
  ProgramCall call = launch_of(kConvert);
  call.call.operations.push_back({.bytes = 16, .to = {.memory = 0, .offset = 1000}});
  call.call.operations.push_back(call.call.operations.front());
  call.call.operations.back().kernel->name = "untyped";
  const RecordedFamily family = step_of(call);
  EXPECT_EQ(family.tensors.size(), 2U);
  EXPECT_EQ(family.call.memory.size(), 1U) << "the fill is in no tensor";
  EXPECT_EQ(family.call.operations[1].to.memory, 0);
  EXPECT_EQ(first_variant_text(family, ""), "");
}

TEST(RecordedFamilies, OfARangeGiveBackWhatAnyOfItsKernelsWrote) {
  ProgramCall call = range_of(kConvert);
  call.written[0].insert(call.written[0].begin(), {100, 200});
  call.results[0].insert(0, std::string(100, 'c'));
  const RecordedFamily family = step_of(call);
  ASSERT_EQ(family.tensors.size(), 2U);
  EXPECT_TRUE(family.tensors[0].is_written) << "by the kernel whose types are not known";
  EXPECT_EQ(family.tensors[0].elements, 200 / 4);
}

TEST(RecordedFamilies, OfARangeHaveViewsAsPartsOfOneTensor) {
  const RecordedFamily family = step_of(range_of(kScale));
  ASSERT_EQ(family.tensors.size(), 1U);
  EXPECT_EQ(family.tensors[0].elements, kMemory / 4);
  EXPECT_EQ(family.call.operations[0].kernel->places[1], (RecordedPlace{.parameter = 8, .argument = 0, .offset = 512}));
}

TEST(RecordedFamilies, OfARangeAreGivenTheEndOfMemory) {
  ProgramCall call = range_of(kConvert);
  call.call.operations.push_back(call.call.operations.front());
  call.call.operations.back().kernel->places[0].offset = kMemory;
  call.written[0].back() = {760, kMemory};
  call.results[0].append(kMemory - 912, 'r');
  const RecordedFamily family = step_of(call);
  EXPECT_EQ(family.tensors.size(), 2U) << "no integers begin there";
  EXPECT_EQ(family.call.operations[2].kernel->places[0], (RecordedPlace{.argument = 1, .offset = 512}));
  call.call.operations.resize(1);
  call.call.operations[0].kernel->places[0].offset = kMemory;
  EXPECT_THROW(step_of(call), UserError);
}

// p0 is i32[128] from 0 on, p1 f32[100] from 512 to 912.
TEST(RecordedFamilies, HaveFillsAndCopiesCutWhereTensorsMeet) {
  ProgramCall call = range_of(kConvert);
  call.call.operations.push_back({.bytes = kMemory, .to = {.memory = 0}, .value = 7, .width = 4});
  call.call.operations.push_back(
      {.bytes = 100, .to = {.memory = 0}, .from = RecordedPlace{.memory = 0, .offset = 450}});
  call.call.operations.push_back({.bytes = 8, .to = {.memory = 0, .offset = 510}, .value = 0x04030201, .width = 4});
  call.call.operations.push_back({.bytes = 4, .to = {.memory = 0, .offset = 511}, .from = {}, .from_host = "host"});
  const RecordedFamily family = step_of(call);
  const std::vector<RecordedOperation> expected = {
      {.bytes = 512, .to = {.argument = 0}, .value = 7, .width = 4},
      {.bytes = 400, .to = {.argument = 1}, .value = 7, .width = 4},
      {.bytes = 112, .to = {.memory = 0, .offset = 912}, .value = 7, .width = 4},
      {.bytes = 62, .to = {.argument = 0}, .from = RecordedPlace{.argument = 0, .offset = 450}},
      {.bytes = 38, .to = {.argument = 0, .offset = 62}, .from = RecordedPlace{.argument = 1}},
      {.bytes = 1, .to = {.argument = 0, .offset = 510}, .value = 1},
      {.bytes = 1, .to = {.argument = 0, .offset = 511}, .value = 2},
      {.bytes = 1, .to = {.argument = 1}, .value = 3},
      {.bytes = 1, .to = {.argument = 1, .offset = 1}, .value = 4},
      {.bytes = 4, .to = {.argument = 1, .offset = 2}, .value = 0x04030201, .width = 4},
      {.bytes = 1, .to = {.argument = 0, .offset = 511}, .from = {}, .from_host = "h"},
      {.bytes = 3, .to = {.argument = 1}, .from = {}, .from_host = "ost"}};
  ASSERT_EQ(family.call.operations.size(), 2 + expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(family.call.operations[2 + i], expected[i]) << i;
  }
  EXPECT_TRUE(decode_recorded_call(encode(family.call)));
}

NamedMemory named(const std::string& name, const std::string& dtype, std::int64_t elements, std::int64_t offset) {
  return {.name = name, .dtype = dtype, .elements = elements, .is_output = false, .memory = 0, .offset = offset};
}

TEST(RecordedFamilies, HaveTheTensorsThatMarksName) {
  ProgramCall call = launch_of("untyped");
  call.named = {named("x", "bf16", 100, 0), named("y", "f32", kCount, 512), named("old_y", "f32", kCount, 512)};
  const RecordedFamily family = recorded_family(call, {.name = "step", .declaration = "", .elements = {}});
  ASSERT_EQ(family.tensors.size(), 2U);
  EXPECT_EQ(family.tensors[0].dtype, DType::bf16);
  EXPECT_EQ(family.tensors[0].elements, 100);
  EXPECT_FALSE(family.tensors[0].is_written);
  EXPECT_TRUE(family.tensors[1].is_written);
  EXPECT_TRUE(family.call.memory.empty());
}

TEST(RecordedFamilies, RefuseMarksThatContradictOrLeaveNothingToCheck) {
  for (const auto& [marks, words] : std::vector<std::pair<std::vector<NamedMemory>, std::string>>{
           {{named("x", "f32", 300, 0)}, "says f32[300], and its memory has 1024 bytes"},
           {{named("x", "float", 3, 0)}, "says float[3]"},
           {{named("x", "f32", 100, 0), named("y", "f32", 100, 396)}, "the marks of 'x' and 'y' overlap"},
           {{named("x", "f32", 100, 0)}, "changes none of its tensors"}}) {
    ProgramCall call = launch_of("untyped");
    call.named = marks;
    try {
      recorded_family(call, {.name = "step", .declaration = "", .elements = {}});
      ADD_FAILURE() << words;
    } catch (const UserError& error) {
      expect_contains(error.what(), words);
    }
  }
}

TEST(RecordedFamilies, AreWrittenAsFiles) {
  const std::string text = family_text(scale(), "/bin/apo record --answer", "/records/ab");
  for (const char* const line :
       {"// apo:family scale\n", "// apo:input p0 f32[128] fill\n", "// apo:inout p1 f32[100] fill\n",
        "// apo:reference /bin/apo record --answer /records/ab\n", "./train 3"}) {
    expect_contains(text, line);
  }
  expect_contains(recorded_variant_text(scale(), "scale.record"), "// apo:record scale.record\n");
}

TEST(RecordedFamilies, HaveAFirstVariantWithTheRecordedLaunch) {
  const std::string text = first_variant_text(scale(), "");
  for (const char* const line :
       {"extern \"C\" __global__ void scale_kernel(const float* p0, float* p1, int p2) {",
        "void scale(const float* p0, float* p1, cudaStream_t stream) {",
        "  scale_kernel<<<dim3(4, 1, 1), dim3(32, 1, 1), 0, stream>>>(p0, p1, static_cast<int>(100));"}) {
    expect_contains(text, line);
  }
  const std::string own = first_variant_text(scale(), "__global__ void scale(const float* a, float* b, int n) {}\n");
  expect_contains(own, "  scale<<<dim3(4, 1, 1)");
}

}  // namespace
}  // namespace apo
