// harness/exchange/conversion.cpp - hands the document over and collects the files.
#include <algorithm>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/exchange/exchange.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

}  // namespace

std::string require_python() {
  const std::optional<std::string> found = find_program("python3");
  if (!found) {
    throw EnvironmentError(
        "python3 is not installed; other tools' formats are converted by it, and 'apo mcp' is served by it",
        "apt-get install python3");
  }
  return *found;
}

Converted convert(const fs::path& home, const std::string& script, const Document& document, const std::string& python,
                  double timeout_s) {
  const TemporaryFolder folder("apo-convert");
  const fs::path path = home / "harness" / "exchange" / script;
  const ProcessResult ran =
      run_process({python.empty() ? require_python() : python, "-B", path.string(), folder.path().string()},
                  {.timeout_s = timeout_s, .input = document.dump(-1, ' ', false, Document::error_handler_t::replace)});
  if (ran.exit_code == 1 && !ran.error.starts_with("Traceback")) {
    const std::size_t end = ran.error.find('\n');
    throw UserError(ran.error.substr(0, end), trim(ran.error.substr(std::min(end, ran.error.size()))));
  }
  if (const std::string sudden = sudden_end(ran, timeout_s); !sudden.empty()) {
    throw UserError(script + " " + sudden, "what it runs of the given file may have no end, or crash");
  }
  if (!ran.ok()) {
    throw EnvironmentError(path.string() + " failed: " + trim(ran.error));
  }
  std::vector<NamedText> files;
  for (const fs::path& file : files_below(folder.path())) {
    files.push_back({file.lexically_relative(folder.path()), read_file(file)});
  }
  return {.files = std::move(files), .report = Document::parse(ran.output)};
}

}  // namespace apo
