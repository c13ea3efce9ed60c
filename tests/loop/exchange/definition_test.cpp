// tests/loop/exchange/definition_test.cpp - the definitions of tests/definitions as families, and the mistakes in one.
#include "harness/loop/exchange/definition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/families/family_file.h"
#include "harness/loop/exchange/export_definition.h"
#include "harness/loop/exchange/imported_family.h"
#include "tests/families/family_text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
const fs::path kProblems = APO_SOURCE_FOLDER "/tests/definitions";

ImportedProblem problem_of(const fs::path& folder, const std::string& name = "") {
  const Definition definition = read_definition(folder / "definition.json");
  return import_problem(definition, read_workloads(definition, folder / "workload.jsonl"), folder, name);
}

std::string family_text(const ImportedProblem& problem) {
  return family_texts(problem, "python3", {}).front().contents;
}

TEST(Definition, EveryExampleBecomesAFamilyFile) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kProblems)) {
    if (entry.path().filename() == "page_gather") {
      continue;  // its recorded values are written by a test
    }
    const ImportedProblem problem = problem_of(entry.path());
    const FamilyFile file = parse_family(family_text(problem), problem.family + ".h");
    EXPECT_EQ(file.origin, problem.definition.name);
    EXPECT_EQ(file.workloads.size(), 3u) << file.name;
    EXPECT_EQ(file.workload_origins.size(), 3u) << file.name;
    EXPECT_TRUE(problem.remarks.empty()) << file.name << ": " << problem.remarks.front();
    ++count;
  }
  EXPECT_EQ(count, 10);
}

// What an import writes, as a family file with its programs beside it.
FamilyFile imported(const ImportedProblem& problem, const fs::path& folder) {
  std::vector<NamedText> files = family_texts(problem, "python3", {});
  for (NamedText& file : files) {
    file.path = folder / file.path;
  }
  write_files_atomically(files);
  return load_family_file(files.front().path.string());
}

TEST(Definition, AnExportedOneImportsAsTheSameContract) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kProblems)) {
    if (entry.path().filename() == "page_gather") {
      continue;  // its recorded values are written by a test
    }
    const TemporaryFolder first;
    const TemporaryFolder problem;
    const TemporaryFolder second;
    const FamilyFile file = imported(problem_of(entry.path()), first.path());
    std::vector<NamedText> texts = definition_texts(file, "");
    for (NamedText& text : texts) {
      text.path = problem.path() / text.path;
    }
    write_files_atomically(texts);
    EXPECT_EQ(contract_text(imported(problem_of(problem.path()), second.path())), contract_text(file)) << file.name;
    ++count;
  }
  EXPECT_EQ(count, 10);
}

TEST(Definition, AFamilyInCppIsExportedWithAReferenceOfItsAuthor) {
  const FamilyFile file = parse_family(
      replaced(replaced(kSoftmax, "// apo:output", "// apo:input     pick i32[rows] index(0..cols-1)\n// apo:output"),
               "const Real* x, ", "const Real* x, const int64_t* pick, "),
      "softmax.h");
  try {
    definition_texts(file, "");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(error.hint().find("def run(x, pick)"), std::string::npos) << error.hint();
  }
  const TemporaryFolder folder;
  for (const NamedText& text : definition_texts(file, "def run(x, pick):\n    return x.softmax(dim=1)\n")) {
    write_file_atomically(folder.path() / text.path, text.contents);
  }
  const ImportedProblem again = problem_of(folder.path());
  EXPECT_EQ(again.definition.custom_inputs, "draw_inputs");
  EXPECT_NE(again.definition.reference.find("(torch.randint(0, 1 + (cols-1), shape)).to(torch.int32)"),
            std::string::npos)
      << again.definition.reference;
  EXPECT_EQ(again.workloads.size(), file.workloads.size());
  EXPECT_EQ(again.definition.inputs.size(), 2u);
}

TEST(Definition, AReferenceThatIsNoPythonOrTakesOtherArgumentsIsRefused) {
  const FamilyFile file = parse_family(kSoftmax, "softmax.h");
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "reference.py").string();
  const auto error_of = [&](const std::string& text) -> std::string {
    write_file_atomically(path, text);
    try {
      python_reference(file, path);
    } catch (const UserError& error) {
      EXPECT_NE(error.hint().find("def run(x)"), std::string::npos) << error.hint();
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("def run(x):\n    return x.softmax(dim=1)\n"), "");
  EXPECT_EQ(error_of("def run(*tensors):\n    return tensors[0]\n"), "");
  EXPECT_TRUE(error_of("import torch\ndef run(x:\n").starts_with(path + ":2: "));
  EXPECT_EQ(error_of("def walk(x):\n    return x\n"), path + ":1: there is no function 'run'");
  EXPECT_EQ(error_of("\ndef run(x, y):\n    return x\n"), path + ":2: run() takes 2 arguments and is called with 1");
  EXPECT_THROW(python_reference(file, (folder.path() / "absent.py").string()), UserError);
}

TEST(Definition, AxesShapesScalarsAndOriginsAreThose) {
  const std::string rmsnorm = family_text(problem_of(kProblems / "rmsnorm_d96"));
  for (const char* line :
       {"// apo:axis       rows 1..64 Tokens in the batch\n", "// apo:axis       width 96..96 specialised\n",
        "// apo:input      norm_weight bf16[width] normal(1,0.1)\n", "// apo:scalar     eps f32 1e-05\n",
        "// The definition's own tolerance: rtol=0.005 atol=0.02.", "// apo:precision  float64 declared\n",
        "// apo:workload   w_c9ae091d small rows=1 width=96\n",
        "// apo:origin     w_c9ae091d c9ae091d-2044-5e31-b736-7086a03d7111\n"}) {
    EXPECT_NE(rmsnorm.find(line), std::string::npos) << line << rmsnorm;
  }
  const std::string gqa = family_text(problem_of(kProblems / "gqa-decode.h8_kv2"));
  EXPECT_NE(gqa.find("// apo:family     gqa_decode_h8_kv2\n"), std::string::npos) << gqa;
  EXPECT_NE(gqa.find("// apo:origin     gqa-decode.h8_kv2\n"), std::string::npos) << gqa;
  EXPECT_NE(gqa.find("q bf16[batch,kv_heads,(heads/kv_heads),head_dim] normal"), std::string::npos) << gqa;
  EXPECT_NE(
      gqa.find("(heads == kv_heads*(heads/kv_heads)) && (length >= 1 && !(length > 4096)) && (heads%kv_heads == 0)"),
      std::string::npos)
      << gqa;
}

TEST(Definition, RecordedValuesTravelWithTheFamily) {
  const TemporaryFolder folder;
  fs::copy(kProblems / "page_gather", folder.path(), fs::copy_options::recursive);
  fs::create_directory(folder.path() / "blob");
  write_file_atomically(
      folder.path() / "blob" / "pages.safetensors",
      safetensors_text({{.key = "four", .dtype = DType::i32, .shape = {4}, .bytes = std::string(16, '\0')},
                        {.key = "three", .dtype = DType::f32, .shape = {3}, .bytes = std::string(12, '\0')}}));
  const ImportedProblem problem = problem_of(folder.path());
  ASSERT_EQ(problem.workloads.size(), 1u);
  EXPECT_EQ(problem.workloads.front().source.uuid, "pages-001");
  ASSERT_EQ(problem.remarks.size(), 3u);
  EXPECT_NE(problem.remarks[0].find("constraint 'picked == indices.shape[0]' is left out"), std::string::npos);
  EXPECT_NE(problem.remarks[1].find("pages-002 is left out: 'three' of 'blob/pages.safetensors' is f32[3]"),
            std::string::npos)
      << problem.remarks[1];
  EXPECT_NE(problem.remarks[2].find("it has no tensor 'absent'"), std::string::npos);
  EXPECT_EQ(problem.recorded.front().key, "pages=8,picked=4,width=16/indices");
  EXPECT_NE(family_text(problem).find("// apo:input      indices i32[picked] fill\n"), std::string::npos);
}

// The softmax, with one mistake.
class Mistakes : public ::testing::Test {
 protected:
  std::string error_of(const std::string& from, const std::string& to) {
    return error(replaced(definition_, from, to), workloads_);
  }
  std::string error_of_workloads(const std::string& from, const std::string& to) {
    return error(definition_, replaced(workloads_, from, to));
  }
  std::string error(const std::string& definition, const std::string& workloads) {
    write_file_atomically(folder_.path() / "definition.json", definition);
    write_file_atomically(folder_.path() / "workload.jsonl", workloads);
    try {
      const ImportedProblem problem = problem_of(folder_.path());
      parse_family(family_text(problem), "softmax.h");
    } catch (const UserError& error) {
      return std::string(error.what()) + "|" + error.hint();
    }
    return "";
  }
  void expect(const std::string& error, const std::string& part) {
    EXPECT_NE(error.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << error;
  }

  TemporaryFolder folder_;
  std::string definition_ = read_file(kProblems / "softmax_rows" / "definition.json");
  std::string workloads_ = read_file(kProblems / "softmax_rows" / "workload.jsonl");
};

TEST_F(Mistakes, OfADefinitionAreOneErrorThatNamesTheField) {
  EXPECT_EQ(error(definition_, workloads_), "");
  expect(error_of("\"tags\"", "tags"), "definition.json:4: this is no JSON: syntax error");
  expect(error_of("\"inputs\": {\"x\": {\"shape\": [\"rows\", \"cols\"], \"dtype\": \"float32\"",
                  "\"inputs\": {\"x\": {\"shape\": [\"rows\", \"cols\"], \"dtype\": \"flaot32\""),
         "definition.json: inputs.x.dtype names an unknown dtype 'flaot32'|did you mean 'float32'?");
  expect(error_of("float32", "float4_e2m1"), "inputs.x.dtype is float4_e2m1: apo has no 4-bit floats");
  expect(error_of("[\"rows\", \"cols\"]", "[\"rows\", \"col\"]"),
         "inputs.x.shape[1] is 'col', which is no axis|did you mean 'cols'?");
  expect(error_of("\"softmax_rows\"", "7"), "definition.json: name is no text");
  expect(error_of("\"reference\"", "\"referense\""), "has no 'reference'");
  expect(error_of("\"rows\": {\"type\": \"var\"}", "\"rows\": {\"type\": \"vary\"}"), "axes.rows.type is 'vary'");
  expect(error_of("\"rows\": {\"type\": \"var\"}", "\"rows\": {\"type\": \"const\", \"value\": 0}"),
         "axes.rows.value is 0");
  expect(error_of("\"rows\": {\"type\": \"var\"}", "\"rows\": {\"type\": \"expr\", \"expression\": \"rows + 1\"}"),
         "the axis 'rows' depends on itself");
  expect(error_of("\"x\": {\"shape\"", "\"switch\": {\"shape\""), "has no 'switch'");
  expect(error_of("\"y\": {\"shape\"", "\"rows\": {\"shape\""), "the name 'rows' is taken");
}

TEST_F(Mistakes, ANameThatIsNoIdentifierNeedsAnother) {
  for (const std::string& name : std::vector<std::string>{"soft max", "../../up", "7up", "", std::string(65, 'x')}) {
    write_file_atomically(folder_.path() / "definition.json",
                          replaced(definition_, "\"softmax_rows\"", "\"" + name + "\""));
    write_file_atomically(folder_.path() / "workload.jsonl",
                          R"({"uuid": "one", "axes": {"rows": 2, "cols": 3}, "inputs": {"x": {"type": "random"}}})");
    try {
      problem_of(folder_.path());
      ADD_FAILURE() << name;
    } catch (const UserError& error) {
      expect(error.what(), "is no identifier of at most 64 characters");
      EXPECT_EQ(error.hint(), "name the family with --name");
    }
    EXPECT_EQ(problem_of(folder_.path(), "mine").family, "mine");
  }
}

TEST_F(Mistakes, OfAWorkloadAreOneErrorThatNamesTheLine) {
  expect(error_of_workloads("\"cols\": 100", "\"cols\": 1e2"), "workload.jsonl:2: workload.axes.cols is no integer");
  expect(error_of_workloads("\"cols\": 100", "\"cols\": 100,"), "workload.jsonl:2: this is no JSON");
  expect(error_of_workloads("\"cols\": 100", "\"colls\": 100"), "workload.axes.colls is no axis");
  expect(error_of_workloads("\"definition\": \"softmax_rows\"", "\"definition\": \"other\""),
         "workload.jsonl:1: definition is 'other', not 'softmax_rows'");
  expect(error_of_workloads("\"random\"", "\"randon\""), "workload.inputs.x.type is 'randon'|known: random");
  expect(error_of_workloads("{\"type\": \"random\"}", "{\"type\": \"custom\"}"), "no custom_inputs_entrypoint");
  expect(error_of_workloads("{\"type\": \"random\"}", "{\"type\": \"scalar\", \"value\": 1}"),
         "gives a value for a tensor");
  expect(error_of_workloads("{\"type\": \"random\"}",
                            "{\"type\": \"safetensors\", \"path\": \"../up.safetensors\", \"tensor_key\": \"k\"}"),
         "path is '../up.safetensors'|give a path below the folder of the problem, without '..'");
  const std::string first = workloads_.substr(0, workloads_.find('\n') + 1);
  expect(error(definition_, first + first), "workload.jsonl:2: the workload '");
  expect(error(definition_, "\n"), "has no workloads");
}

TEST_F(Mistakes, OfSomeWorkloadsLeaveTheOthers) {
  write_file_atomically(folder_.path() / "definition.json", definition_);
  const std::string second =
      replaced(replaced(workloads_, "\"rows\": 5", "\"rows\": 0"), "\"rows\": 32", "\"rows\": 2");
  write_file_atomically(folder_.path() / "workload.jsonl", replaced(second, "\"cols\": 256", "\"cols\": 7"));
  const ImportedProblem problem = problem_of(folder_.path(), "mine");
  EXPECT_EQ(problem.family, "mine");
  EXPECT_EQ(problem.workloads.size(), 1u);
  ASSERT_EQ(problem.remarks.size(), 2u);
  EXPECT_NE(problem.remarks[0].find("rows=0, and extents are at least 1"), std::string::npos);
  EXPECT_NE(problem.remarks[1].find("it has the sizes of w_"), std::string::npos);
}

}  // namespace
}  // namespace apo
