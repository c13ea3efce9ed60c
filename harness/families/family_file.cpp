// harness/families/family_file.cpp - reads a family's block line by line, then checks it as a whole.
#include "harness/families/family_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/draw_inputs.h"
#include "harness/implement/variant/headers.h"

namespace apo {
namespace {

// The words of the reference's command that are files beside the family's: they are part of the contract.
std::vector<SourceFile> read_scripts(const FamilyFile& file) {
  std::vector<SourceFile> scripts;
  for (const std::string& word : file.reference_command) {
    const std::filesystem::path path = std::filesystem::path(file.path).parent_path() / word;
    std::error_code error;
    if (word.find('/') == std::string::npos && std::filesystem::is_regular_file(path, error)) {
      scripts.push_back({.name = word, .text = read_file(path), .path = path.string()});
    }
  }
  return scripts;
}

}  // namespace

FamilyFile parse_family(std::string_view text, const std::string& path) {
  FamilyFile file{.path = path, .text = std::string(text)};
  file.regimes = known_regimes();
  const std::vector<BlockLine> block = read_block(text, path);
  read_family_lines(file, block);
  if (!file.reference_command.empty() && std::ranges::find(block, "regimes", &BlockLine::key) == block.end()) {
    std::erase(file.regimes, "denormal");  // a command's error does not cover hardware that flushes them
  }
  check_family_file(file);
  file.headers = file.reference_command.empty() ? find_headers(text, path, file.name, {}) : read_scripts(file);
  return file;
}

FamilyFile load_family_file(const std::string& path) {
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  const std::string text = read_file(absolute);
  if (text.size() > kMaxSourceBytes) {
    throw UserError(fmt::format("'{}' is larger than {} bytes", path, kMaxSourceBytes), "give the family's file");
  }
  return parse_family(text, absolute.string());
}

bool is_family_file(std::string_view text) {
  const std::string line = first_block_line(text, "//");
  return line.starts_with("apo:family ") || line.starts_with("apo:family\t");
}

std::string contract_text(const FamilyFile& file) {
  std::string text = file.text;
  for (const SourceFile& header : file.headers) {
    text += "// " + header.name + "\n" + header.text;
  }
  return text;
}

std::string unit_line(const std::vector<FileUnitAxis>& units) {
  std::string line = "// apo:unit";
  for (const FileUnitAxis& unit : units) {
    line += unit.block == 1 ? " " + unit.axis : fmt::format(" {}/{}", unit.axis, unit.block);
  }
  return line;
}

FamilyFile with_units(const FamilyFile& file, const std::vector<FileUnitAxis>& units) {
  std::vector<std::string> lines = split(file.text, '\n');
  lines.insert(lines.begin() + read_block(file.text, file.path).back().number, unit_line(units));
  FamilyFile split_file = file;
  split_file.units = units;
  split_file.text = join(lines, "\n");
  return split_file;
}

}  // namespace apo
