// tests/applications/ncu_csv_test.cpp - both pages of `ncu --csv`, with what real files have around and inside
// them.
#include "harness/applications/ncu_csv.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"

namespace apo {
namespace {

const std::string kDetails =
    "step 1 of 2\n==PROF== Connected to process 42 (/usr/bin/python3.11)\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","
    "\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
    "\"0\",\"42\",\"python3\",\"host\",\"void scale<float, 4>(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\","
    "\"0\",\"9.0\",\"GPU Speed Of Light Throughput\",\"DRAM Throughput\",\"%\",\"80.5\"\n"
    "\"0\",\"42\",\"python3\",\"host\",\"void scale<float, 4>(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\","
    "\"0\",\"9.0\",\"GPU Speed Of Light Throughput\",\"Duration\",\"us\",\"1,234.50\"\n"
    "\"0\",\"42\",\"python3\",\"host\",\"void scale<float, 4>(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\","
    "\"0\",\"9.0\",\"Launch Statistics\",\"Function Cache Configuration\",\"\",\"CachePreferNone\"\n"
    "\"1\",\"42\",\"python3\",\"host\",\"void scale<float, 4>(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\","
    "\"0\",\"9.0\",\"GPU Speed Of Light Throughput\",\"DRAM Throughput\",\"%\",\"79.5\"\n"
    "\"1\",\"42\",\"python3\",\"host\",\"void scale<float, 4>(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\","
    "\"0\",\"9.0\",\"GPU Speed Of Light Throughput\",\"Duration\",\"us\",\"1,000\"\n";

const std::string kRaw =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","
    "\"Grid "
    "Size\",\"Device\",\"CC\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"launch__func_cache_config\"\r\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte\",\"ns\",\"\"\r\n"
    "\"0\",\"1\",\"p\",\"h\",\"a \"\"b\"\",\nc\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
    "1)\",\"0\",\"9.0\",\"10,240\",\"40\",\"n/a\"\r\n"
    "\"1\",\"1\",\"p\",\"h\",\"gemm\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"n/a\",\"60\",\"\"\r\n";

const GpuWork& work_of(const ApplicationProfile& profile, const std::string& name) {
  for (const GpuWork& work : profile.processes.at(0).work) {
    if (work.name == name) {
      return work;
    }
  }
  throw std::out_of_range(name);
}

std::string csv_error(const std::string& text) {
  try {
    read_ncu_csv(text, "f.csv");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(NcuCsv, DetailsPageGivesDurationsAndMeans) {
  ASSERT_TRUE(is_ncu_csv(kDetails));
  const ApplicationProfile profile = read_ncu_csv(kDetails, "f.csv");
  const GpuWork& scale = work_of(profile, "void scale<float, 4>(float *)");
  EXPECT_EQ(scale.calls, 2);
  EXPECT_EQ(scale.total_ns, 2'234'500);
  EXPECT_EQ(scale.min_ns, 1'000'000);
  EXPECT_EQ(scale.max_ns, 1'234'500);
  ASSERT_EQ(profile.metrics.size(), 2U) << "words are no metrics";
  EXPECT_EQ(profile.metrics[0].name, "DRAM Throughput");
  EXPECT_EQ(profile.metrics[0].unit, "%");
  EXPECT_DOUBLE_EQ(profile.metrics[0].mean, 80);
  EXPECT_EQ(profile.metrics[0].samples, 2);
  EXPECT_TRUE(profile.notes.empty());
}

TEST(NcuCsv, RawPageTakesUnitsFromItsSecondLineAndQuotedNames) {
  const ApplicationProfile profile = read_ncu_csv(kRaw, "f.csv");
  EXPECT_EQ(work_of(profile, "a \"b\",\nc").total_ns, 40);
  EXPECT_EQ(work_of(profile, "gemm").total_ns, 60);
  ASSERT_EQ(profile.metrics.size(), 3U);
  EXPECT_EQ(profile.metrics[0].name, "dram__bytes_read.sum");
  EXPECT_DOUBLE_EQ(profile.metrics[0].mean, 10'240);
  EXPECT_EQ(profile.metrics[0].unit, "byte");
}

TEST(NcuCsv, LaunchesWithoutADurationAreCounted) {
  std::string text = kDetails;
  for (std::size_t at = 0; (at = text.find("\"Duration\"", at)) != std::string::npos;) {
    text.replace(at, 10, "\"Registers\"");
  }
  const ApplicationProfile profile = read_ncu_csv(text, "f.csv");
  ASSERT_EQ(profile.notes.size(), 1U);
  EXPECT_NE(profile.notes[0].find("2 of 2 launches have no duration"), std::string::npos) << profile.notes[0];
  EXPECT_TRUE(profile.processes.at(0).work.empty());
}

TEST(NcuCsv, EachMistakeIsNamedWithItsLine) {
  EXPECT_FALSE(is_ncu_csv("a,b\n1,2\n"));
  EXPECT_NE(csv_error("a,b\n").find("no header line of ncu"), std::string::npos);
  EXPECT_NE(csv_error(kDetails.substr(0, kDetails.size() - 12)).find("f.csv:8"), std::string::npos)
      << csv_error(kDetails.substr(0, kDetails.size() - 12));
  std::string wrong = kDetails;
  wrong.replace(wrong.find("1,234.50"), 8, "-1");
  EXPECT_NE(csv_error(wrong).find("'-1' 'us' is no duration in f.csv:5"), std::string::npos) << csv_error(wrong);
  wrong = kDetails;
  wrong.replace(wrong.find("\"us\""), 4, "\"fortnight\"");
  EXPECT_NE(csv_error(wrong).find("is no duration"), std::string::npos);
}

TEST(NcuCsv, AFileThatEndsInsideAQuoteEnds) {
  EXPECT_NE(csv_error(kRaw + "\"2\",\"never closed, \n and so on"), "");
}

}  // namespace
}  // namespace apo
