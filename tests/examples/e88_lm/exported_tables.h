// tests/examples/e88_lm/exported_tables.h - the tables of the recorded campaigns of both E88 families, in one folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/core/system/process.h"
#include "tests/examples/e88_lm/small_model.h"

namespace byte_lm::test {

class ExportedTables : public testing::Test {
 protected:
  void SetUp() override {
    setenv("E88_LM_CACHE", (folder_ / "cache").c_str(), 1);
    for (const std::string direction : {"forward", "backward"}) {
      const std::string journal =
          std::string(APO_SOURCE_FOLDER) + "/experiments/nvidia-h200/b16_t512_h83_n32/" + direction + ".db";
      const apo::ProcessResult result =
          apo::run_process({APO_PROGRAM, "export", "--dispatch", "e88_" + direction, "--journal", journal, "--output",
                            tables().string(), "--with-sources"},
                           {.timeout_s = 1000, .environment = {"APO_HOME=" APO_SOURCE_FOLDER}});
      ASSERT_EQ(result.exit_code, 0) << result.error;
    }
  }
  void TearDown() override { unsetenv("E88_LM_CACHE"); }

  std::filesystem::path tables() const { return folder_ / "tables of the model"; }

  const Folder folder_;
};

}  // namespace byte_lm::test
