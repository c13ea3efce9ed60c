// harness/core/sources.cpp - the manifest, and what `diff -u` says of two variants.
#include "harness/core/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace {

// A file for `diff`, in this folder; a text without an end of its last line gets one. Nothing where there is no file.
std::filesystem::path side_of(const SourceFile* file, const std::filesystem::path& path) {
  if (file == nullptr) {
    return "/dev/null";
  }
  std::string text = readable_text(*file);
  if (!text.empty() && text.back() != '\n') {
    text += '\n';
  }
  write_file_atomically(path, text);
  return path;
}

std::string diff_of(const SourceFile* before, const SourceFile* after, const std::filesystem::path& folder) {
  if (before != nullptr && after != nullptr && before->text == after->text) {
    return "";
  }
  const auto name_of = [](const SourceFile* file) { return file != nullptr ? file->name : "/dev/null"; };
  const ProcessResult result =
      run_process({require_program("diff"), "-u", "--label", name_of(before), "--label", name_of(after),
                   side_of(before, folder / "before"), side_of(after, folder / "after")});
  if (result.exit_code != 0 && result.exit_code != 1) {  // equal, different
    throw EnvironmentError("diff -u failed: " + result.printed());
  }
  return result.output;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.front() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; });
}

// By its first line of code, which is none of C++.
bool begins_as_python(std::string_view source) {
  for (const std::string& whole : split(source, '\n')) {
    const std::string line = trim(whole);
    const auto begins = [&](std::string_view word) { return line.starts_with(word); };
    if (line.empty() || line == "#" || begins("# ") || begins("#!") || begins("##")) {
      continue;
    }
    const bool is_block = (line.ends_with(':') && (begins("class ") || begins("try") || begins("if "))) ||
                          (begins("class ") && line.find("):") != std::string::npos) || begins("def ");
    const std::size_t equals = line.find(" = ");
    const bool is_assignment = equals != std::string::npos && is_identifier(line.substr(0, equals));
    const bool is_statement = (begins("import ") || begins("from ") || is_assignment) && !line.ends_with(';');
    return is_block || is_statement || begins("@") || begins(R"(""")") || begins(R"(r""")") || begins("'''");
  }
  return false;
}

}  // namespace

std::string source_manifest(const Variant& variant) {
  std::string text = sha256(variant.source) + "  -\n";
  for (const SourceFile& header : variant.headers) {
    text += sha256(header.text) + "  " + header.name + "\n";
  }
  if (!variant.contract.empty()) {
    text += sha256(variant.contract) + "  " + kContractName + "\n";
  }
  return text;
}

bool is_one_file(const Variant& variant) {
  return variant.headers.empty() && variant.contract.empty();
}

std::string source_identity(const Variant& variant) {
  return sha256(is_one_file(variant) ? variant.source : source_manifest(variant));
}

void check_source_size(std::size_t bytes, const std::string& name) {
  if (bytes == 0 || bytes > kLongestCandidate) {
    throw UserError(fmt::format("{} is {}", name, bytes == 0 ? "empty" : "longer than 1 MiB"));
  }
}

std::string candidate_text(const std::string& file) {
  const std::string name = "'" + file + "'";
  std::error_code error;  // ignored: reading the file fails later with the reason
  if (const auto bytes = std::filesystem::file_size(file, error); !error) {
    check_source_size(bytes, name);
  }
  std::string text = read_file(file);
  check_source_size(text.size(), name);
  return text;
}

bool is_source_extension(std::string_view extension) {
  return extension == ".cpp" || extension == ".cu" || extension == ".py";
}

std::string guessed_extension(std::string_view source) {
  const auto has = [&](std::string_view word) { return source.find(word) != std::string_view::npos; };
  return is_python(source) ? ".py" : has("__global__") || has("cudaStream_t") ? ".cu" : ".cpp";
}

std::string source_extension(const Variant& variant) {
  return is_python(variant.source) ? ".py" : variant.target == Target::cuda ? ".cu" : ".cpp";
}

std::string source_name(const Variant& variant) {
  const std::string extension = source_extension(variant);
  const std::filesystem::path path = variant.path;
  const std::string name = path.filename().string();
  return path.extension() == extension && is_plain_name(name) ? name : variant.name + extension;
}

std::string first_block_line(std::string_view source, std::string_view sign) {
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = trim(source.substr(at, end - at));
    at = end + 1;
    if (!line.empty() && !line.starts_with(sign)) {
      break;
    }
    if (const std::string comment = trim(line.substr(std::min(line.size(), sign.size())));
        comment.starts_with("apo:")) {
      return comment;
    }
  }
  return "";
}

bool is_python(std::string_view source) {
  return !first_block_line(source, "#").empty() || (first_block_line(source, "//").empty() && begins_as_python(source));
}

bool is_device_variant(const Variant& variant) {
  return variant.target == Target::cuda && !variant.launches.empty();
}

bool is_recorded(const Variant& variant) {
  return variant.object.ends_with(kRecordExtension);
}

bool is_binary(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

std::string readable_text(const SourceFile& file) {
  return is_binary(file.text) ? fmt::format("(binary, {} bytes, sha256 {})\n", file.text.size(), sha256(file.text))
                              : file.text;
}

std::vector<SourceFile> all_sources(const Variant& variant) {
  std::vector<SourceFile> files = {{.name = source_name(variant), .text = variant.source, .path = variant.path}};
  files.insert(files.end(), variant.headers.begin(), variant.headers.end());
  return files;
}

std::string unified_diff(const std::vector<SourceFile>& before, const std::vector<SourceFile>& after) {
  std::string text;
  std::map<std::string, std::pair<const SourceFile*, const SourceFile*>> headers;
  for (const SourceFile& file : before) {
    headers[&file == &before.front() ? "" : file.name].first = &file;
  }
  for (const SourceFile& file : after) {
    headers[&file == &after.front() ? "" : file.name].second = &file;
  }
  const TemporaryFolder folder;
  for (const auto& [name, pair] : headers) {  // "" first
    text += diff_of(pair.first, pair.second, folder.path());
  }
  return text;
}

}  // namespace apo
