// tests/project/readme_test.cpp - every command of README.md and docs/ runs, and what they mention exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "harness/core/pattern.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/project/markdown.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = APO_SOURCE_FOLDER;
const fs::path kProgram = APO_PROGRAM;

std::vector<fs::path> documents() {
  std::vector<fs::path> found = {kRoot / "README.md"};
  for (const char* folder : {"docs", "examples/agent", "examples/e88_lm", "examples/pytorch_e88"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".md") {
        found.push_back(entry.path());
      }
    }
  }
  std::sort(found.begin() + 1, found.end());
  return found;
}

// What a reader has after `git clone` and the first ./apo: the files of the checkout, and the built program as ./apo.
class WorkingCopy {
 public:
  WorkingCopy() {
    for (const auto& entry : fs::directory_iterator(kRoot)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(".") && !name.starts_with("build") && name != "apo") {
        fs::copy(entry.path(), folder_.path() / name, fs::copy_options::recursive);
      }
    }
    fs::create_symlink(kProgram, folder_.path() / "apo");
    fs::create_directory(turns());
  }

  ProcessResult run(const std::string& command) const {
    ProcessOptions options;
    options.timeout_s = 300;
    options.working_folder = folder_.path().string();
    // Tests that run beside this one are not waited for: no verdict here needs quiet.
    options.environment = {"APO_HOME=" + kRoot.string(), "APO_JOURNAL=", "XDG_RUNTIME_DIR=" + turns().string(),
                           "APO_CACHE=" APO_BINARY_FOLDER "/test-cache",
                           "PATH=" + folder_.path().string() + ":" + std::getenv("PATH")};
    return run_process({"bash", "-o", "pipefail", "-c", command}, options);
  }

 private:
  fs::path turns() const { return folder_.path() / ".turns"; }

  TemporaryFolder folder_;
};

// The options that `apo SUBCOMMAND --help` shows; none when there is no such subcommand.
const std::vector<std::string>& options_of(const std::string& subcommand) {
  static std::map<std::string, std::vector<std::string>> known;
  const auto [entry, is_new] = known.try_emplace(subcommand);
  if (is_new) {
    std::vector<std::string> argv = {kProgram.string(), "--help"};
    if (!subcommand.empty()) {
      argv.insert(argv.begin() + 1, subcommand);
    }
    const ProcessResult help = run_process(argv);
    entry->second = help.ok() ? options_in(help.output) : std::vector<std::string>();
  }
  return entry->second;
}

// The commands in `apo --help`: the first word of each indented line that is no option.
std::vector<std::string> read_subcommands() {
  std::vector<std::string> found;
  const ProcessResult help = run_process({kProgram.string(), "--help"});
  for (const std::string& line : split(help.output, '\n')) {
    if (line.starts_with("  ") && !line.starts_with("   ") && !line.starts_with("  -")) {
      found.push_back(split_words(line).front());
    }
  }
  return found;
}

const std::vector<std::string>& subcommands() {
  static const std::vector<std::string> all = read_subcommands();
  return all;
}

bool has_option(const std::string& subcommand, const std::string& option) {
  const auto& options = options_of(subcommand);
  return std::find(options.begin(), options.end(), option) != options.end();
}

bool exists(const Mention& mention) {
  const std::vector<std::string>& all = subcommands();
  if (!mention.subcommand.empty()) {
    return std::find(all.begin(), all.end(), mention.subcommand) != all.end() &&
           (mention.option.empty() || has_option(mention.subcommand, mention.option));
  }
  return has_option("", mention.option) ||
         std::any_of(all.begin(), all.end(), [&](const std::string& name) { return has_option(name, mention.option); });
}

class Readme : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(kProgram)) << "the program is not built: ninja apo";
    ASSERT_TRUE(fs::exists(kRoot / "README.md")) << "README.md is missing";
  }
};

TEST_F(Readme, EverySubcommandAndOptionItNamesExists) {
  ASSERT_FALSE(subcommands().empty());
  for (const fs::path& path : documents()) {
    for (const Mention& mention : mentions_of(read_file(path))) {
      EXPECT_TRUE(exists(mention)) << path.string() << ":" << mention.line << ": apo " << mention.subcommand << " "
                                   << mention.option << " is not in --help";
    }
  }
}

// The pages whose commands need neither the journal nor the measured roofs of the pages before them.
constexpr const char* kPagesOfTheirOwn[] = {"commands.md", "executor.md", "families.md"};

// README.md with the pages that go on with the journal that it leaves, or one page: what runs in one working copy.
class Documents : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<fs::path> pages() const {
    std::vector<fs::path> its = documents();
    std::erase_if(its, [](const fs::path& path) {
      const bool alone = std::ranges::find(kPagesOfTheirOwn, path.filename()) != std::end(kPagesOfTheirOwn);
      return path.filename() != GetParam() && (alone || GetParam() != "README.md");
    });
    return its;
  }
};

TEST_P(Documents, CommandsEndWell) {
  const WorkingCopy copy;
  ASSERT_FALSE(pages().empty()) << "there is no docs/" << GetParam();
  std::set<std::string> ran;  // a page that repeats a command shows what it showed before
  for (const fs::path& path : pages()) {
    for (const DocumentCommand& command : commands_of(read_file(path))) {
      if (!command.runs || !ran.insert(command.text).second) {
        continue;
      }
      const ProcessResult result = copy.run(command.text);
      EXPECT_TRUE(result.ok()) << path.string() << ":" << command.line << ": " << command.text << "\nexit code "
                               << result.exit_code << (result.timed_out ? ", timed out" : "") << "\n"
                               << result.output << result.error;
      std::printf("%6.1f s  %s:%d  %s\n", result.seconds, path.filename().c_str(), command.line, command.text.c_str());
    }
  }
}

std::vector<std::string> copies() {
  std::vector<std::string> names = {"README.md"};
  names.insert(names.end(), std::begin(kPagesOfTheirOwn), std::end(kPagesOfTheirOwn));
  return names;
}

INSTANTIATE_TEST_SUITE_P(Page, Documents, ::testing::ValuesIn(copies()),
                         [](const auto& page) { return page.param.substr(0, page.param.find('.')); });

TEST_F(Readme, EveryLinkToTheCheckoutLeadsToAFile) {
  static const Pattern kLink(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");  // neither https: nor a heading alone
  for (const fs::path& path : documents()) {
    for (const PatternMatch& link : kLink.all(read_file(path))) {
      EXPECT_TRUE(fs::exists(path.parent_path() / link[1])) << path.string() << " links to " << link[1];
    }
  }
}

TEST_F(Readme, ShowsAtLeastTheMainCommand) {
  const std::vector<DocumentCommand> commands = commands_of(read_file(kRoot / "README.md"));
  EXPECT_TRUE(std::any_of(commands.begin(), commands.end(), [](const DocumentCommand& command) {
    return command.runs && command.text.starts_with("./apo run");
  })) << "README.md shows no ./apo run that is run here";
}

}  // namespace
}  // namespace apo
