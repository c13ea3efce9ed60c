// harness/implement/compile.cpp - runs the compiler under limits and interprets its output and its make rules.
#include "harness/implement/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// The memory limit of one compiler process: a template bomb must not take the machine down.
constexpr const char* kCompilerMemoryKib = "8388608";
// The largest file that it may write, in ulimit's blocks of 512 bytes (1024 where sh is not quite POSIX): an array of a
// tebibyte with one value in it must not fill the disk.
constexpr const char* kCompilerFileBlocks = "524288";

std::string evidence_of(const ProcessResult& result, const std::string& log, double timeout_s) {
  if (const std::string sudden = sudden_end(result, timeout_s); !sudden.empty()) {
    return "the compiler " + sudden;
  }
  const std::string error = first_error(log);
  return error.empty() ? fmt::format("the compiler exited with code {}", result.exit_code) : error;
}

// Failures that are this machine's, not the source's.
void check_environment(const std::string& log, const std::string& compiler) {
  if (log.find("No space left on device") != std::string::npos) {
    throw EnvironmentError("no space left on the device while building", "free some space, or move the build cache");
  }
  for (const char* part : {"cannot execute 'cc1plus'", "cannot execute 'as'", "cannot find 'ld'", "cannot find -lgomp",
                           "cannot find -lasan", "cannot find -lubsan"}) {
    if (log.find(part) != std::string::npos) {
      throw EnvironmentError("the compiler '" + compiler + "' is incomplete: " + part, "sudo apt-get install g++");
    }
  }
}

std::string cut(std::string log) {
  if (log.size() > kLongestLog) {
    log.resize(kLongestLog);
    log += "\n... (cut)\n";
  }
  return log;
}

// ---------------------------------------------------------------- files that it must not read

fs::path real(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : found;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return text;
}

// The lines of all texts in the draft, without blanks: a compiler shows tabs as blanks.
std::set<std::string> lines_in(const fs::path& draft) {
  std::set<std::string> lines;
  for (const fs::path& file : files_below(draft)) {
    if (fs::file_size(file) <= kLongestCandidate) {
      for (const std::string& line : split(read_file(file), '\n')) {
        lines.insert(without_blanks(line));
      }
    }
  }
  return lines;
}

// The text of "   12 | float x;", a line of a source in the words of GCC.
std::optional<std::string> shown_line(const std::string& line) {
  const std::size_t number = line.find_first_not_of(' ');
  const std::size_t bar = line.find_first_not_of("0123456789", number);
  if (number == std::string::npos || bar == number || bar == std::string::npos || line.compare(bar, 2, " |") != 0) {
    return std::nullopt;
  }
  return line.substr(bar + 2);
}

// "a.s" of "a.s:3: Error: no such instruction: `x'", in the words of the GNU assembler; "" for another line.
std::string assembled_file(const std::string& line) {
  for (const char* kind : {": Error: ", ": Warning: ", ": Info: ", ": Fatal error: "}) {
    const std::size_t end = line.find(kind);
    const std::size_t colon = end == std::string::npos ? end : line.rfind(':', end - 1);
    if (colon != std::string::npos && parse_int(line.substr(colon + 1, end - colon - 1))) {
      return line.substr(0, colon);
    }
  }
  return "";
}

}  // namespace

Words joined(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::string first_error(const std::string& log, const std::vector<std::string_view>& words) {
  const std::vector<std::string> lines = split(log, '\n');
  const auto is_error = [&](const std::string& line) {
    return !line.starts_with("collect2:") &&
           std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != std::string::npos; });
  };
  const auto found = std::ranges::find_if(lines, is_error);
  return trim(found == lines.end() ? lines.front() : *found).substr(0, 500);
}

CompileStep run_step(const Words& command, const fs::path& folder, double timeout_s, const std::stop_token& stop) {
  // ulimit is the shell's; exec leaves the compiler as the process that the deadline kills.
  const Words argv = joined({"/bin/sh", "-c", "ulimit -v \"$0\"; ulimit -f \"$1\" 2>/dev/null; shift; exec \"$@\"",
                             kCompilerMemoryKib, kCompilerFileBlocks},
                            command);
  const ProcessResult result =
      run_process(argv, {.timeout_s = timeout_s,
                         .working_folder = folder.string(),
                         .environment = {"LC_ALL=C", "TMPDIR=" + folder.string(), "SOURCE_DATE_EPOCH=0"},
                         .stop = stop});
  CompileStep step{.ok = result.ok(),
                   .log = without_foreign_text(cut(result.output + result.error), folder),
                   .evidence = "",
                   .timed_out = result.timed_out};
  if (!step.ok) {
    check_environment(step.log, command.front());
    step.evidence = evidence_of(result, step.log, timeout_s);
  }
  return step;
}

std::vector<std::string> read_dependencies(std::string_view rule) {
  const std::size_t colon = rule.find(": ");
  std::vector<std::string> files;
  std::string word;
  for (std::size_t i = colon == std::string_view::npos ? rule.size() : colon + 2; i <= rule.size(); ++i) {
    const char c = i < rule.size() ? rule[i] : '\n';
    const bool escaped = c == '\\' && i + 1 < rule.size();
    if (escaped && rule[i + 1] == '\n') {
      ++i;  // the rule goes on
    } else if ((escaped && (rule[i + 1] == ' ' || rule[i + 1] == '#')) || (c == '$' && rule.substr(i, 2) == "$$")) {
      word += rule[++i];
    } else if (c != ' ' && c != '\n' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      files.push_back(std::move(word));
      word.clear();
    }
  }
  return files;
}

std::string foreign_file(const std::vector<std::string>& files, const ReadableFolders& readable) {
  const fs::path draft = real(readable.draft);
  std::set<fs::path> known;  // a home may consist of links
  for (const std::string& name : readable.known) {
    const fs::path inside = fs::path(name).lexically_normal();
    known.insert(real(readable.home / inside));
  }
  for (const std::string& name : files) {
    const fs::path file = real(readable.draft / name);
    const bool of_compiler =
        std::ranges::any_of(readable.compilers, [&](const fs::path& folder) { return lies_in(file, real(folder)); });
    if (!lies_in(file, draft) && !of_compiler && !known.contains(file)) {
      return file.string();
    }
  }
  return "";
}

std::string without_foreign_text(const std::string& log, const fs::path& draft) {
  std::optional<std::set<std::string>> own;
  std::string kept;
  for (const std::string& line : split(log, '\n')) {
    bool foreign = false;
    if (const auto shown = shown_line(line)) {
      own = own ? std::move(own) : lines_in(draft);
      foreign = !own->contains(without_blanks(*shown));
    } else if (const std::string file = assembled_file(line); !file.empty()) {
      foreign = !lies_in(real(draft / file), real(draft));
    }
    kept += foreign ? "" : line + "\n";
  }
  kept.pop_back();
  return kept;
}

std::string in_users_words(std::string evidence, const Variant& variant) {
  for (const SourceFile& file : all_sources(variant)) {
    const std::size_t length = file.name.size();
    const bool named = evidence.starts_with(file.name) && evidence.find_first_of(":(", length) == length;
    if (named && !file.path.empty()) {
      return evidence.replace(0, length, file.path);
    }
  }
  return evidence;
}

}  // namespace apo
