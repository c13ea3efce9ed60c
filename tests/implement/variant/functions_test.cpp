// tests/implement/variant/functions_test.cpp - which functions a text defines for the host, and their parameters.
#include "harness/implement/variant/functions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/core/text.h"

namespace apo {
namespace {

// "norm(float*|out, int|n) in line 3" of each.
std::vector<std::string> found(std::string_view source) {
  std::vector<std::string> all;
  for (const FunctionText& function : host_functions(source)) {
    std::vector<std::string> parameters;
    for (const Parameter& parameter : function.parameters) {
      parameters.push_back(parameter.type + "|" + parameter.name + (parameter.optional ? "=" : ""));
    }
    all.push_back(fmt::format("{}({}) in line {}{}", function.name, join(parameters, ", "), function.line,
                              function.is_template ? ", a template" : ""));
  }
  return all;
}

TEST(HostFunctions, OfBothSidesOfAnIfAreThoseThatAKnownConditionLeaves) {
  const std::string source =
      "#if A\nvoid f(int n) {}\n#else\n#ifdef B\n#endif\nvoid f() {}\n#endif\n"
      "# if !A\nvoid g() {}\n#endif\n#if A > 0\nvoid h() {}\n#endif\n";
  const auto lines = [&](const Symbols& known) {
    std::string text;
    for (const FunctionText& function : host_functions(source, known)) {
      text += function.name + std::to_string(function.line) + " ";
    }
    return text;
  };
  EXPECT_EQ(lines({}), "f2 f6 g9 h12 ");
  EXPECT_EQ(lines({{"A", 1}}), "f2 h12 ");
  EXPECT_EQ(lines({{"A", 0}}), "f6 g9 h12 ");
}

TEST(HostFunctions, HaveABodyAndStandInNoClassAndNoOtherFunction) {
  const std::string source = R"(#include <vector>
#define CALL(x) { x(); }
int declared(int n);
struct Item { void method(int n) { run(n); } };
int table[] = {1, 2};
auto made = make({1});
namespace a { namespace b {
  // void commented(int n) {}
  void inner(int n) { if (n > 0) { auto f = [](int m) { return m; }; } }
} }
extern "C" { void in_block() {} }
extern "C" int alone(void) { return '{'; }
int main(int argc, char **argv) { const char* text = "void quoted() {"; }
)";
  EXPECT_EQ(found(source), (std::vector<std::string>{"inner(int|n) in line 9", "in_block() in line 11",
                                                     "alone() in line 12", "main(int|argc, char**|argv) in line 13"}));
}

TEST(HostFunctions, AreNeitherKernelsNorDeviceFunctions) {
  const std::string source = R"(
__global__ void __launch_bounds__(512, 2) kernel(float* x) { x[0] = 1; }
template <int N> __device__ inline float one(float v) { return v; }
template <class T> __host__ __device__ T both(T a, T b) { return a + b; }
__attribute__((visibility("default"))) static void launch(float* x) { kernel<<<1, 1>>>(x); }
)";
  EXPECT_EQ(found(source),
            (std::vector<std::string>{"both(T|a, T|b) in line 4, a template", "launch(float*|x) in line 5"}));
  EXPECT_FALSE(host_functions(source)[0].launches);
  EXPECT_TRUE(host_functions(source)[1].launches);
}

TEST(HostFunctions, ParametersHaveATypeAndPerhapsANameAndADefault) {
  const std::string source =
      R"(void f(const float* __restrict__ inp, float *out, std::size_t n, unsigned long, const int64_t,
       float w[4], std::vector<std::pair<int, int>>& pairs, const args& a, float eps = f(1, 2), int = 3) {})";
  EXPECT_EQ(found(source),
            (std::vector<std::string>{
                "f(const float*|inp, float*|out, std::size_t|n, unsigned long|, const int64_t|, float*|w, "
                "std::vector<std::pair<int, int>>&|pairs, const args&|a, float|eps=, int|=) in line 1"}));
  EXPECT_EQ(host_functions(source)[0].parameters[0].text, "const float* inp");
}

}  // namespace
}  // namespace apo
