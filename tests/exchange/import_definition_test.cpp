// tests/exchange/import_definition_test.cpp - references of definitions that hang, crash or give no number.
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/exchange/exchange.h"
#include "tests/families/family_text.h"
#include "tests/text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

TEST(ImportDefinition, AReferenceThatHangsCrashesOrGivesNoNumberIsOneError) {
  if (!run_process({"/usr/bin/python3", "-c", "import torch"}).ok()) {
    GTEST_SKIP() << "needs PyTorch: apt-get install python3-torch";
  }
  const std::string softmax = APO_SOURCE_FOLDER "/tests/definitions/softmax_rows/";
  const auto error_of = [&](const std::string& statement, double timeout_s = 1000) -> std::string {
    const TemporaryFolder folder;
    const TemporaryFolder scratch;
    write_file_atomically(folder.path() / "workload.jsonl", read_file(softmax + "workload.jsonl"));
    write_file_atomically(folder.path() / "definition.json",
                          replaced(read_file(softmax + "definition.json"), "return shifted", statement));
    OracleOptions options = test_oracle();
    options.timeout_s = timeout_s;
    try {
      import_definition({.definition = folder.path(), .python = "/usr/bin/python3"}, options, scratch.path());
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  expect_contains(error_of("while True: pass\\n    return shifted", 6), "did not finish in 6.0 s");
  expect_contains(error_of("import os; os.abort()\\n    return shifted"), "was ended by SIGABRT");
  expect_contains(error_of("return shifted * float('nan')"), "gives nan in y[0,0] (cols=7 rows=2)");
  expect_contains(error_of("return torch.zeros(2, 2) if True else shifted"),
                  "wrote y.npy with shape [2,2], needed [2,7]");
  const TemporaryFolder scratch;
  const fs::path endless = scratch.path() / "endless.py";
  write_file_atomically(endless, "while True: pass\nclass Model: pass\ndef get_inputs(): return []\n");
  OracleOptions options = test_oracle();
  options.timeout_s = 6;
  try {
    import_definition({.kernelbench = endless, .python = "/usr/bin/python3"}, options, scratch.path());
    ADD_FAILURE() << "an endless file was imported";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "import_kernelbench.py did not finish in 6.0 s");
  }
}

}  // namespace
}  // namespace apo
