// harness/implement/variant/headers.cpp - follows quoted includes depth first.
#include "harness/implement/variant/headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/includes.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

struct Search {
  std::string family;
  std::vector<fs::path> roots;
  std::vector<fs::path> others;
  std::map<std::string, SourceFile> found;
  std::vector<std::string> open;  // paths of the files that are being read, each included by the one before
  std::size_t bytes = 0;
};

// All are laid beside the source in one folder, so that no name may lead out of it or be that of another file there.
bool is_header_name(const std::string& name) {
  static const std::regex kName(R"([A-Za-z0-9_][A-Za-z0-9_.+-]{0,95}\.(h|hh|hpp|hxx|cuh|inc|inl))");
  return std::regex_match(name, kName);
}

bool is_of_others(const Search& search, const std::string& name) {
  return std::ranges::any_of(search.others, [&](const fs::path& folder) { return !is_absent(folder / name); });
}

bool is_of_harness(const std::string& name) {
  return name.starts_with("kernels/") && name.find("..") == std::string::npos;
}

void check_name(const std::string& path, const IncludeLine& line) {
  if (line.name.find_first_of("/\\") != std::string::npos) {
    block_error(path, line.number, fmt::format("the header \"{}\" is named with a folder", line.name),
                "put it beside the file, into variants/<family>/ or into variants/common/, and include its bare name");
  }
  if (!is_header_name(line.name)) {
    block_error(path, line.number, fmt::format("\"{}\" cannot name a header of a variant", line.name),
                "use letters, digits, '_', '-', '.' and the extension h, hh, hpp, hxx, cuh, inc or inl");
  }
}

fs::path locate(const Search& search, const std::string& path, const IncludeLine& line) {
  std::vector<fs::path> folders = {fs::path(path).parent_path()};
  for (const char* shared : {search.family.c_str(), "common"}) {
    for (const fs::path& root : search.roots) {
      folders.push_back(root / shared);
    }
  }
  for (const fs::path& folder : folders) {
    if (const fs::path file = (folder / line.name).lexically_normal(); !is_absent(file)) {
      return file;
    }
  }
  block_error(path, line.number, fmt::format("there is no header \"{}\"", line.name),
              fmt::format("put it beside the file or into variants/{}/; a header of the compiler or the toolkit is "
                          "included as <{}>",
                          search.family, line.name));
}

std::string read_header(const Search& search, const fs::path& file, const std::string& path, const IncludeLine& line) {
  std::error_code error;
  const bool regular = fs::is_regular_file(file, error);
  const std::uintmax_t bytes = regular ? fs::file_size(file, error) : 0;
  if (error || !regular) {
    block_error(path, line.number, fmt::format("the header '{}' is no regular file", file.string()),
                "include a text file");
  }
  if (search.found.size() >= kMostHeaders || search.bytes + bytes > kMaxSourceBytes) {
    block_error(path, line.number,
                fmt::format("the variant has more than {} headers or {} of source", kMostHeaders,
                            format_bytes(static_cast<double>(kMaxSourceBytes))),
                "include fewer or smaller headers");
  }
  std::string text = read_file(file);
  if (!is_utf8(text) || text.find('\0') != std::string::npos) {
    block_error(path, line.number, fmt::format("the header '{}' is no UTF-8 text", file.string()),
                "convert the file, e.g. iconv -f latin1 -t utf8");
  }
  return text;
}

void follow(Search& search, std::string_view source, const std::string& path) {
  search.open.push_back(path);
  for (const IncludeLine& line : include_lines(source)) {
    if (!line.quoted || line.name == search.family + ".args.h" || is_of_harness(line.name) ||
        is_of_others(search, line.name)) {
      continue;
    }
    check_name(path, line);
    const fs::path file = locate(search, path, line);
    if (std::find(search.open.begin(), search.open.end(), file.string()) != search.open.end()) {
      block_error(path, line.number, fmt::format("\"{}\" includes itself, directly or through others", line.name),
                  "take one of the include lines out");
    }
    if (const auto known = search.found.find(line.name); known != search.found.end()) {
      if (known->second.path != file.string() && known->second.text != read_header(search, file, path, line)) {
        block_error(path, line.number,
                    fmt::format("the name \"{}\" stands for two headers: '{}' and '{}'", line.name, known->second.path,
                                file.string()),
                    "rename one of the two");
      }
      continue;
    }
    const std::string text = read_header(search, file, path, line);
    search.bytes += text.size();
    search.found[line.name] = {.name = line.name, .text = text, .path = file.string()};
    follow(search, text, file.string());
  }
  search.open.pop_back();
}

}  // namespace

std::vector<SourceFile> find_headers(std::string_view source, const std::string& path, const std::string& family,
                                     const std::vector<fs::path>& roots, const std::vector<fs::path>& others) {
  Search search{.family = family, .roots = roots, .others = others, .found = {}, .open = {}, .bytes = source.size()};
  follow(search, source, path);
  std::vector<SourceFile> headers;
  for (auto& [name, header] : search.found) {
    headers.push_back(std::move(header));
  }
  return headers;
}

void check_headers(const std::vector<SourceFile>& headers, const std::string& path, const std::string& family) {
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const std::string& name = headers[i].name;
    if (!is_header_name(name) || name == family + ".args.h" || (i > 0 && !(headers[i - 1].name < name))) {
      throw UserError(fmt::format("{}: the header \"{}\" has no name that a variant's header may have", path, name),
                      "take the file from its source again: somebody changed it by hand");
    }
  }
}

}  // namespace apo
