// tests/profile/host/vector_code_test.cpp - vector and scalar arithmetic in listings and libraries.
#include "harness/profile/host/vector_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"

namespace apo {
namespace {

// A vectorised loop over columns within a loop over rows, whose remainder is scalar.
TEST(VectorCode, IsThatOfTheInnermostLoops) {
  const FloatInstructions counted = count_float_instructions(
      "0000000000001130 <rows>:\n"
      "    1130:\txor    %eax,%eax\n"
      "    1134:\tvmulss %xmm0,%xmm1,%xmm2\n"
      "    1138:\tvmovups (%rdi,%rax,1),%ymm0\n"
      "    113c:\tvfmadd231ps (%rsi,%rax,1),%ymm1,%ymm0\n"
      "    1140:\tvaddps %ymm0,%ymm2,%ymm2\n"
      "    1144:\tcmp    %rax,%rcx\n"
      "    1148:\tjne    1138 <rows+0x8>\n"
      "    114c:\tvaddss %xmm0,%xmm1,%xmm2\n"
      "    1150:\tjb     1134 <rows+0x4>\n"
      "    1154:\tjmp    1130 <rows>\n"
      "    1158:\taddsd  %xmm0,%xmm1\n"
      "    115c:\tfaddp  %st,%st(1)\n"
      "    1160:\tcvtss2sd %xmm0,%xmm0\n"
      "    1164:\tjne    1158 <rows+0x28>\n");
  EXPECT_EQ(counted.vector, 2) << "of the loop over columns";
  EXPECT_EQ(counted.scalar, 1) << "of the last loop, not of what surrounds the first one";
}

TEST(VectorCode, OfAArch64IsToldByItsRegisters) {
  const FloatInstructions counted = count_float_instructions(
      "     730:\tfmla\tv0.4s, v1.4s, v2.4s\n"
      "     734:\tfadd\ts0, s1, s2\n"
      "     738:\tfmul\tz0.s, z1.s, z2.s\n"
      "     73c:\tb.ne\t730 <f+0x10>  // b.any\n"
      "     740:\tfsqrt\td0, d1\n"
      "     744:\tcbnz\tx0, 740 <f+0x20>\n");
  EXPECT_EQ(counted.vector, 2);
  EXPECT_EQ(counted.scalar, 2);
}

TEST(VectorCode, IsNothingInAnythingElse) {
  for (const char* listing : {"", "\n", "a.so: file format elf64\n", "  zz:\tvaddps\n", "1:\t", "1:\tjne  <\n"}) {
    const FloatInstructions counted = count_float_instructions(listing);
    EXPECT_EQ(counted.vector + counted.scalar, 0) << listing;
  }
  EXPECT_TRUE(std::isnan(vector_share("/no/such/library.so")));
}

TEST(VectorCode, OfASoftmaxIsScalarWhereItCallsLibmAndVectorsWhereItNormalises) {
  const auto compiler = find_program("g++");
  if (!compiler || !find_program("objdump")) {
    GTEST_SKIP() << "there is no compiler";
  }
  const TemporaryFolder folder;
  const std::string source = folder.path() / "softmax.cpp";
  const std::string library = folder.path() / "softmax.so";
  const auto share_of = [&](const std::string& body) {
    write_file_atomically(source,
                          "#include <cmath>\nextern \"C\" void rows(const float* x, float* y, long n, float s) {\n"
                          "for (long i = 0; i < n; ++i) { " +
                              body + " }\n}\n");
    EXPECT_TRUE(run_process({*compiler, "-O3", "-shared", "-fPIC", "-o", library, source}).ok());
    return vector_share(library);
  };
  EXPECT_LT(share_of("y[i] = std::exp(x[i] - s) * s;"), 0.25);
  EXPECT_GE(share_of("y[i] = (x[i] - 1.0f) * s;"), 0.5) << "its scalar twin is for pointers that overlap";
}

}  // namespace
}  // namespace apo
