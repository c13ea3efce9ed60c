// harness/implement/read_files.cpp - parses make rules, and resolves folders to real paths.
#include "harness/implement/read_files.h"

#include <algorithm>
#include <optional>

#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

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

}  // namespace apo
