// tests/worker/code/line_table_test.cpp - lines and inlined calls of a cubin that nvcc made: a recorded one, and one
// that is compiled here where there is a compiler.
#include "harness/worker/code/line_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/worker/cupti/cupti.h"

#if __has_include(<cupti_pcsampling.h>)
#include <cupti_pcsampling.h>
#define APO_HAS_CUPTI_HEADERS 1
#endif

namespace apo {
namespace {

const std::string kFolder = std::string(APO_SOURCE_FOLDER) + "/tests/worker/code/";

std::string recorded() {
  return read_file(kFolder + "inlined_calls.cubin");
}

// The lines of the kernel's instructions, with what was inlined there.
std::map<int, std::set<std::string>> lines_of(const LineTable& table, const std::string& kernel) {
  std::map<int, std::set<std::string>> lines;
  for (std::uint64_t offset = 0; offset < 128 * 16; offset += 16) {
    const SourcePlace place = table.place(kernel, offset);
    lines[place.file == "inlined_calls.cu" ? place.line : -place.line].insert(place.inlined);
  }
  return lines;
}

void expect_calling_lines(const LineTable& table) {
  auto first = lines_of(table, "first");
  EXPECT_EQ(first[6].count("low (inlined_calls.h:5)"), 1U);
  EXPECT_EQ(first[7].count("sum_of_pair (inlined_calls.h:9)"), 1U);
  EXPECT_EQ(first[7].count("sum_of_pair (inlined_calls.h:9) > low (inlined_calls.h:5)"), 1U);
  EXPECT_EQ(first.count(-5) + first.count(-9), 0U) << "a helper's own line has no instruction";
  auto second = lines_of(table, "second");
  EXPECT_EQ(second[11].count("low (inlined_calls.h:5)"), 1U) << "calls are numbered anew in each kernel";
  EXPECT_EQ(second[-14].count("low (inlined_calls.h:5)"), 1U) << "the line of a long function stays";
  EXPECT_EQ(second.count(-17), 1U);
}

TEST(LineTable, NamesTheLineThatCallsAShortHelper) {
  expect_calling_lines(LineTable(recorded()));
}

TEST(LineTable, ReadsWhatTheCompilerHereWrites) {
  const auto nvcc = find_program("nvcc");
  if (!nvcc) {
    GTEST_SKIP() << "there is no nvcc";
  }
  const TemporaryFolder folder;
  const std::string cubin = folder.path() / "inlined_calls.cubin";
  const ProcessResult compiled =
      run_process({*nvcc, "-arch=sm_90", "-lineinfo", "-cubin", "-o", cubin, kFolder + "inlined_calls.cu"});
  ASSERT_TRUE(compiled.ok()) << compiled.error;
  expect_calling_lines(LineTable(read_file(cubin)));
}

#ifdef APO_HAS_CUPTI_HEADERS
// The line of the instruction itself: the last one of a chain.
int innermost_line(const SourcePlace& place) {
  return place.inlined.empty() ? place.line : std::stoi(place.inlined.substr(place.inlined.rfind(':') + 1));
}

// CUPTI knows no inlined calls.
TEST(LineTable, NamesTheInstructionsOwnLineAsCuptiDoes) {
  std::string missing;
  const auto library = cupti::load_library(missing);
  if (library == nullptr) {
    GTEST_SKIP() << missing;
  }
  LibraryFunctions functions = library->in;
  const decltype(&cuptiGetSassToSourceCorrelation) source = functions.find("cuptiGetSassToSourceCorrelation");
  ASSERT_NE(source, nullptr);
  const std::string cubin = recorded();
  const LineTable table(cubin);
  int compared = 0;
  for (const std::string kernel : {"first", "second"}) {
    CUpti_GetSassToSourceCorrelationParams asked{};
    asked.size = CUpti_GetSassToSourceCorrelationParamsSize;
    asked.cubin = cubin.data();
    asked.cubinSize = cubin.size();
    asked.functionName = kernel.c_str();
    for (SourcePlace place = table.place(kernel, 0); place.line > 0; place = table.place(kernel, asked.pcOffset)) {
      ASSERT_EQ(source(&asked), CUPTI_SUCCESS);
      EXPECT_EQ(innermost_line(place), static_cast<int>(asked.lineNumber)) << kernel << " " << asked.pcOffset;
      std::free(std::exchange(asked.fileName, nullptr));
      std::free(std::exchange(asked.dirName, nullptr));
      asked.pcOffset += 16;
      ++compared;
    }
  }
  EXPECT_GT(compared, 40);
}
#endif

TEST(LineTable, HasNoWrongLinesForOtherKernelsAndDamage) {
  const std::string whole = recorded();
  EXPECT_EQ(LineTable(whole).place("third", 0).line, 0);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 13) {
    const int line = LineTable(whole.substr(0, bytes)).place("first", 0).line;
    EXPECT_TRUE(line == 0 || line == 5) << bytes << ": " << line;
  }
}

// Whatever the bytes are, reading them ends.
TEST(LineTable, SurvivesChangedBytes) {
  const std::string whole = recorded();
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x91);
    lines_of(LineTable(changed), "first");
  }
}

}  // namespace
}  // namespace apo
