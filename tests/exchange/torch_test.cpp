// tests/exchange/torch_test.cpp - exported ops, built and called by PyTorch on this CPU.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/process.h"
#include "harness/exchange/exchange.h"
#include "harness/loop/export/dispatch_document.h"
#include "tests/loop/export/dispatch_fixture.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

using test::DispatchJournal;
constexpr const char* kPython = "/usr/bin/python3";

bool has_torch() {
  static const bool kHas = run_process({kPython, "-c", "import torch"}).ok();
  return kHas;
}

void expect_said(const ProcessResult& ran, const std::string& part = "") {
  EXPECT_TRUE(ran.ok()) << ran.output << ran.error;
  expect_contains(ran.output, part);
}

// A folder as `apo export --torch FAMILY` writes it, once or for several families.
class Exported {
 public:
  explicit Exported(const DispatchTable& table) : family_(table.family->name) { add(table); }

  void add(const DispatchTable& table) const {
    std::vector<NamedText> files = {{dispatch_header_name(*table.family), dispatch_header(table)}};
    for (std::vector<NamedText> more : {dispatch_sources(table), torch_files(table, APO_SOURCE_FOLDER, 1)}) {
      files.insert(files.end(), more.begin(), more.end());
    }
    for (NamedText& file : files) {
      file.path = path() / file.path;
    }
    write_files_atomically(files);
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  ProcessResult run(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {kPython};
    argv.insert(argv.end(), words.begin(), words.end());
    return run_process(argv, {.timeout_s = 1000,
                              .working_folder = path().string(),
                              .environment = {"APO_DISPATCH=" + path().string(), "PYTHONDONTWRITEBYTECODE=1"}});
  }
  // With modules of this interpreter alone.
  ProcessResult compile_python(const std::vector<std::string>& files) const {
    std::vector<std::string> words = {"-c",
                                      "import sys\nfor file in sys.argv[1:]: compile(open(file).read(), file, 'exec')"};
    words.insert(words.end(), files.begin(), files.end());
    return run(words);
  }
  ProcessResult run_test() const { return run({"test_" + family_ + ".py"}); }

 private:
  TemporaryFolder folder_{"apo-torch-test"};
  std::string family_;
};

DispatchJournal::Accept accept_here(const std::string& candidate, const std::string& baseline,
                                    const std::string& workload_class, const std::string& workload) {
  return {.machine = "host",
          .candidate = candidate,
          .baseline = baseline,
          .workload_class = workload_class,
          .workloads = {workload}};
}

DispatchTable host_fallback(const std::string& variant) {
  static DispatchJournal journal;
  const std::string family = variant.substr(0, variant.find('/'));
  static const std::int64_t any =
      journal.campaign(accept_here("copy/simple", "copy/memcpy", find_family("copy")->workloads[0].workload_class,
                                   find_family("copy")->workloads[0].name));
  EXPECT_GT(any, 0) << "the journal knows this computer";
  return journal.load({.family = family, .fallbacks = {variant}}).tables.at(0);
}

class BuiltTorchOp : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_torch()) {
      GTEST_SKIP() << "needs PyTorch: apt-get install python3-torch";
    }
  }
};

// What needs no PyTorch: the Python files are Python, and the table is compiled, asked and called through ctypes.
TEST(TorchOp, TheTableIsCalledThroughCtypesWithoutPyTorch) {
  DispatchJournal journal;
  const Workload& workload = find_family("copy")->workloads[0];
  DispatchJournal::Accept elsewhere = accept_here("copy/simple", "copy/memcpy", workload.workload_class, workload.name);
  elsewhere.machine = "another host";
  elsewhere.model = "Another CPU";
  journal.accept(elsewhere);
  const Exported exported(journal.load().tables.at(0));
  expect_said(exported.compile_python({"copy_op.py", "test_copy.py"}));
  const ProcessResult called = exported.run({APO_SOURCE_FOLDER "/tests/exchange/call_copy.py"});
  expect_said(called, "copied 1001 numbers");
  expect_contains(called.output, "elsewhere: copy/simple was measured on Another CPU, and this is ");
  expect_contains(called.output, "refused: no kernel of copy is known for n=-1");
}

TEST(TorchOp, TheFilesOfTheExampleArePython) {
  const Exported exported(host_fallback("copy/simple"));
  const std::string folder = APO_SOURCE_FOLDER "/examples/pytorch_e88/";
  const ProcessResult python = exported.compile_python({folder + "e88.py", folder + "train.py", folder + "check.py"});
  EXPECT_TRUE(python.ok()) << python.error;
  if (!has_torch()) {
    const ProcessResult trained = exported.run({folder + "train.py"});
    EXPECT_EQ(trained.exit_code, 1);
    expect_contains(trained.error, "PyTorch is not installed");
  }
}

// Both ops in one folder: the forward has a gradient, which is right, and a model learns with it.
TEST_F(BuiltTorchOp, AnExportedPairIsDifferentiableAndTrainsTheExample) {
  const Exported exported(host_fallback("e88_forward/simple[COLUMN_VECTORISED=1]"));
  exported.add(host_fallback("e88_backward/column_vectorised"));
  expect_said(exported.run_test(), "gradient of e88_forward on cpu: 12 cases right; not served: none");
  const std::string folder = APO_SOURCE_FOLDER "/examples/pytorch_e88/";
  expect_said(exported.run({folder + "check.py", "."}), "cpu: wrong: none");
  expect_said(exported.run({folder + "train.py", "--steps", "3", "--length", "32"}), "{\"apo_step\": 3, \"seconds\": ");
}

// Scalars, derived inputs, three dtypes, fallback rows.
TEST_F(BuiltTorchOp, AFamilyOfAFileGivesTheValuesOfItsContract) {
  DispatchJournal journal;
  journal.campaign(accept_here("lse_backward/blocked", "lse_backward/materialised", "heads", "h2_s128_d64"));
  const Dispatch dispatch = journal.load({.family = "lse_backward", .fallbacks = {"lse_backward/blocked"}});
  const Exported exported(dispatch.tables.at(0));
  expect_said(exported.run_test(), "lse_backward on cpu: 8 cases right; not served: none");
  expect_said(exported.run({APO_SOURCE_FOLDER "/examples/torch_gradients.py", "."}),
              "lse_backward: 4 cases as autograd in float64; wrong: none; not served: none");
}

// Axes that a build knows, and classes without a row.
TEST_F(BuiltTorchOp, ConstantsOfABuildComeFromTheSizesAndSizesWithoutARowAreRefused) {
  DispatchJournal journal;
  journal.accept(accept_here("e88_forward/simple[COLUMN_VECTORISED=1]", "e88_forward/simple", "n16", "b2_t32_h2_n16"));
  const Exported exported(journal.load().tables.at(0));
  expect_said(exported.run_test(), "e88_forward on cpu: 4 cases right; not served: b1_t32_h2_n32, ");
}

TEST(TorchOp, HasTheSourcesOfBothAnswersOfAClass) {
  DispatchJournal journal;
  journal.accept(accept_here("e88_forward/simple", "e88_forward/simple[COLUMN_VECTORISED=1]", "n32", "b1_t256_h8_n32"));
  journal.accept(accept_here("e88_forward/simple[COLUMN_VECTORISED=1]", "e88_forward/simple", "n32", "b2_t64_h4_n32"));
  const DispatchTable table = journal.load().tables.at(0);
  const Exported exported(table);
  const auto op = nlohmann::json::parse(read_file(exported.path() / "e88_forward_op.json"));
  ASSERT_EQ(op["sources"].size(), 2U);
  for (const DispatchRow& row : table.devices.at(0).rows) {
    EXPECT_TRUE(std::filesystem::exists(exported.path() / source_folder(row) / source_file(row)));
  }
}

TEST_F(BuiltTorchOp, AWrongKernelFailsTheTestAndOneThatDoesNotCompileSaysWhy) {
  DispatchJournal journal;
  journal.accept(accept_here("copy/simple", "copy/memcpy", find_family("copy")->workloads[0].workload_class,
                             find_family("copy")->workloads[0].name));
  const Dispatch dispatch = journal.load();
  const Exported exported(dispatch.tables.at(0));
  EXPECT_TRUE(exported.run_test().ok());
  const DispatchRow& row = dispatch.tables[0].devices[0].rows[0];
  const std::filesystem::path source = exported.path() / source_folder(row) / source_file(row);
  const std::string right = read_file(source);
  write_file_atomically(source, right + "\n#error broken\n");
  expect_contains(exported.run_test().error, "does not compile");
  write_file_atomically(source,
                        "#include <cstdint>\nvoid copy(const float* x, float* y, int64_t n) {\n"
                        "  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + (i == n / 2 ? 0.01f : 0);\n}\n");
  const ProcessResult wrong = exported.run_test();
  EXPECT_FALSE(wrong.ok());
  expect_contains(wrong.error, "an element of y is off");
}

}  // namespace
}  // namespace apo
