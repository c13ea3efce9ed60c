// tests/families/family_text.h - a family file to change, and where the tests' programs are built.
#pragma once

#include <string>

#include "harness/families/oracle_program.h"

namespace apo {

inline constexpr const char* kSoftmax =
    "// apo:family    softmax\n"
    "// apo:idea      y[r,:] = softmax(x[r,:])\n"
    "// apo:axis      rows 1..65536\n"
    "// apo:axis      cols 1..65536\n"
    "// apo:input     x f32[rows,cols] normal\n"
    "// apo:output    y f32[rows,cols]\n"
    "// apo:unit      rows\n"
    "// apo:workload  r64_c256 production rows=64 cols=256\n"
    "// apo:workload  r7_c100 ragged rows=7 cols=100\n"
    "// apo:workload  r1_c1 small rows=1 cols=1\n"
    "template <class Real>\n"
    "void reference(int64_t rows, int64_t cols, const Real* x, Real* y) {\n"
    "  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {\n"
    "    Real largest = x[0], sum = 0;\n"
    "    for (int64_t c = 1; c < cols; ++c) largest = max(largest, x[c]);\n"
    "    for (int64_t c = 0; c < cols; ++c) sum += y[c] = exp(x[c] - largest);\n"
    "    for (int64_t c = 0; c < cols; ++c) y[c] /= sum;\n"
    "  }\n"
    "}\n";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "no '" + from + "' in the text" : text.replace(at, from.size(), to);
}

// One cache for all tests: each reference is compiled once.
inline OracleOptions test_oracle() {
  return {.cache = std::string(APO_BINARY_FOLDER) + "/test-cache/builds", .home = APO_SOURCE_FOLDER, .timeout_s = 1000};
}

}  // namespace apo
