// tests/cli/bring/dtype_test.cpp - an operation on tensors of every dtype, on the host and on the CPU executor.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/cli/workplace.h"

namespace apo {
namespace {

struct Format {
  const char* dtype;
  const char* distribution;
  const char* result;  // of the reference
  const char* on_host;
  const char* on_device;
};

// Halving a float is exact, and the bits of 16 and 8 are halved where they lie.
const Format kFormats[] = {
    {"f64", "normal", "h * x_f64[i]", "h * a.x_f64[i]", "a.h * a.x_f64[i]"},
    {"f32", "normal", "h * x_f32[i]", "h * a.x_f32[i]", "a.h * a.x_f32[i]"},
    {"f16", "normal", "h * x_f16[i]", "halved(a.x_f16[i], 5, 10)", "__float2half(a.h * __half2float(a.x_f16[i]))"},
    {"bf16", "normal", "h * x_bf16[i]", "halved(a.x_bf16[i], 8, 7)",
     "__float2bfloat16(a.h * __bfloat162float(a.x_bf16[i]))"},
    {"e4m3", "normal", "h * x_e4m3[i]", "halved(a.x_e4m3[i], 4, 3)", "__nv_fp8_e4m3(a.h * float(a.x_e4m3[i]))"},
    {"e5m2", "normal", "h * x_e5m2[i]", "halved(a.x_e5m2[i], 5, 2)", "__nv_fp8_e5m2(a.h * float(a.x_e5m2[i]))"},
    {"i64", "index(0..99)", "x_i64[i] + k", "a.x_i64[i] + k", "a.x_i64[i] + a.k"},
    {"i32", "index(0..99)", "x_i32[i] + k", "a.x_i32[i] + k", "a.x_i32[i] + a.k"},
    {"i16", "index(0..99)", "x_i16[i] + k", "a.x_i16[i] + k", "a.x_i16[i] + a.k"},
    {"i8", "index(0..99)", "x_i8[i] + k", "a.x_i8[i] + k", "a.x_i8[i] + a.k"},
    {"u8", "index(0..99)", "x_u8[i] + k", "a.x_u8[i] + k", "a.x_u8[i] + a.k"},
    {"bool", "mask", "1 - x_bool[i]", "!a.x_bool[i]", "!a.x_bool[i]"}};

std::string family() {
  std::string block = "// apo:family every\n// apo:axis n 1..4096\n// apo:scalar k i32 3\n// apo:scalar h f32 0.5\n";
  std::string inputs;
  std::string outputs;
  std::string code;
  for (const Format& format : kFormats) {
    const std::string dtype = format.dtype;
    const std::string type = dtype.find_first_of("iu") == 0 || dtype == "bool" ? "int64_t" : "Real";
    block += "// apo:input x_" + dtype + " " + dtype + "[n] " + format.distribution + "\n";
    block += "// apo:output y_" + dtype + " " + dtype + "[n]\n";
    inputs += ", const " + type + "* x_" + dtype;
    outputs += ", " + type + "* y_" + dtype;
    code += "    y_" + dtype + "[i] = " + format.result + ";\n";
  }
  return block + "// apo:workload n37 ragged n=37\ntemplate <class Real>\nvoid reference(int64_t n, int64_t k, Real h" +
         inputs + outputs + ") {\n  for (int64_t i = 0; i < n; ++i) {\n" + code + "  }\n}\n";
}

std::string on_host() {
  std::string code;
  for (const Format& format : kFormats) {
    code += std::string("    a.y_") + format.dtype + "[i] = " + format.on_host + ";\n";
  }
  return R"(#include "every.args.h"
static unsigned halved(unsigned bits, int exponent_bits, int fraction_bits) {
  const unsigned sign = bits & 1u << (exponent_bits + fraction_bits), size = bits & ~sign;
  if (size >> fraction_bits > 1) return bits - (1u << fraction_bits);
  return sign | ((size >> 1) + (size & size >> 1 & 1));
}
APO_EXPORT uint32_t apo_abi() { return APO_ABI_VERSION; }
APO_EXPORT int apo_launch(const apo_call* call) {
  const every_args& a = *static_cast<const every_args*>(call->arguments);
  const int64_t k = a.k;
  const float h = a.h;
  for (int64_t i = 0; i < a.n; ++i) {
)" + code +
         "  }\n  return 0;\n}\n";
}

std::string on_device() {
  std::string code;
  for (const Format& format : kFormats) {
    code += std::string("  a.y_") + format.dtype + "[i] = " + format.on_device + ";\n";
  }
  return "// apo:launch every grid=ceil_div(n,32) block=32\n#include \"every.args.h\"\n"
         "extern \"C\" __global__ void every(const every_args a) {\n"
         "  const long long i = 32LL * blockIdx.x + threadIdx.x;\n  if (i >= a.n) return;\n" +
         code + "}\n";
}

TEST(EveryDtype, IsRightOnTheHostAndInTheExecutor) {
  const Workplace place;
  place.write("every.h", family());
  place.write(".apo/variants/every/host.cpp", on_host());
  place.write(".apo/variants/every/device.cu", on_device());
  const auto verify = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "verify");
    words.insert(words.end(), {"--families", "every.h", "--no-sanitizers"});
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("valid"), std::string::npos) << ran.out;
  };
  verify({"every/host"});
  verify({"every/device", "--on", "cpu"});
  verify({"every/host", "--workload", "n37", "--dump", "dump"});
  EXPECT_TRUE(std::filesystem::exists(place.path("dump/y_e4m3.npy")));
}

// Every output is -1 or its like, all ones as bits; a variant writes half of one of them.
TEST(EveryDtype, AnIntegerThatIsNotWrittenIsRefusedThoughAllItsBitsAreOnes) {
  const std::vector<std::array<std::string, 3>> outputs = {
      {"i64", "int64_t", "-1"}, {"i32", "int32_t", "-1"}, {"u8", "uint8_t", "255"}, {"bool", "bool", "1"}};
  std::string block = "// apo:family ones\n// apo:axis n 1..4096\n// apo:input x f32[n] normal\n";
  std::string reference = "template <class Real>\nvoid reference(int64_t n, const Real* x";
  std::string loop;
  std::string signature = "#include <stdint.h>\nvoid ones(const float* x";
  for (const auto& [dtype, type, right] : outputs) {
    block += "// apo:output y_" + dtype + " " + dtype + "[n]\n";
    reference += ", int64_t* y_" + dtype;
    signature += ", " + type + "* y_" + dtype;
    loop += "    y_" + dtype + "[i] = " + right + ";\n";
  }
  const Workplace place;
  place.write("ones.h", block + "// apo:workload n64 small n=64\n" + reference +
                            ") {\n  for (int64_t i = 0; i < n; ++i) {\n" + loop + "  }\n}\n");
  const auto verify = [&](const std::string& name, const std::string& body) {
    place.write(".apo/variants/ones/" + name + ".cpp",
                signature + ", int64_t n) {\n  for (int64_t i = 0; i < n; ++i) {\n" + body + "  }\n}\n");
    return place.apo({"verify", "ones/" + name, "--families", "ones.h", "--no-sanitizers"});
  };
  const Ran whole = verify("whole", loop);
  EXPECT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  for (const auto& [dtype, type, right] : outputs) {
    const Ran half = verify("half_" + dtype, replaced(loop, "y_" + dtype, "if (i < n / 2) y_" + dtype));
    EXPECT_EQ(half.exit_code, 3) << dtype << half.out << half.err;
    EXPECT_NE(half.out.find("[32] = "), std::string::npos) << half.out << half.err;
  }
}

}  // namespace
}  // namespace apo
