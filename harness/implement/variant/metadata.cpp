// harness/implement/variant/metadata.cpp - a variant of its file: reads the block, finds the headers, checks the whole.
#include "harness/implement/variant/metadata.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/headers.h"
#include "harness/implement/variant/include_folders.h"
#include "harness/implement/variant/metadata_block.h"
#include "harness/implement/variant/metadata_checks.h"
#include "harness/implement/variant/metadata_lines.h"
#include "harness/implement/variant/settings.h"
#include "harness/implement/variant/shared_object.h"

namespace apo {
namespace {

// The block is read by then.
using HeadersOf = std::function<std::vector<SourceFile>(const Variant& variant)>;

Variant parse(std::string_view source, const std::string& path, const HeadersOf& headers_of,
              const FileIdentity& otherwise) {
  const std::vector<BlockLine> block = read_block(source, path);
  Variant variant{.family = otherwise.family, .name = otherwise.name, .target = otherwise.target};
  read_lines(variant, block, path);
  variant.path = path;
  variant.source = source;
  variant.headers = headers_of(variant);
  if (!variant.object.empty()) {  // whose symbols tell
    const SourceFile& object = object_of(variant);
    variant.function =
        ffi_function(object.text, object.path.empty() ? object.name : object.path, variant.function, variant.family);
  }
  const Family& family = *find_family(variant.family);
  variant.contract = family.contract;
  variant.source_hash = source_identity(variant);
  check_metadata(variant, family, block, path);
  return variant;
}

void check_size(const std::string& path, const std::filesystem::file_status& status, std::size_t most) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::is_regular_file(status) ? std::filesystem::file_size(path, error) : 0;
  if (!error && bytes > most) {
    throw UserError("'" + path + "' is larger than a variant may be: " + format_bytes(static_cast<double>(bytes)) +
                        ", at most " + format_bytes(static_cast<double>(most)),
                    "give the source file of the variant");
  }
}

// The object that an apo:ffi line names, beside the file.
SourceFile load_object(const Variant& variant) {
  const std::filesystem::path path = std::filesystem::path(variant.path).parent_path() / variant.object;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {
    throw UserError(variant.path + ": there is no object '" + variant.object + "' beside the file",
                    "put the shared object that its apo:ffi line names there");
  }
  check_size(path.string(), status, kMaxObjectBytes);
  return {.name = variant.object, .text = read_file(path), .path = path.string()};
}

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path, const std::string& family) {
  FileIdentity identity{.family = family,
                        .name = path.stem().string(),
                        .target = path.extension() == ".cu" || path.extension() == ".py" ? Target::cuda : Target::host};
  const std::filesystem::path folder = path.parent_path();
  const bool has_own = folder.filename() == identity.name;
  const std::string holds = (has_own ? folder.parent_path() : folder).filename().string();
  if (family.empty() && find_family(holds) != nullptr) {
    identity.family = holds;
  }
  return identity;
}

Variant parse_variant(std::string_view source, const std::string& path, const std::vector<SourceFile>& headers,
                      const FileIdentity& otherwise) {
  return parse(
      source, path,
      [&](const Variant& variant) {
        check_headers(headers, path, variant.family);
        return headers;
      },
      otherwise);
}

Variant parse_variant(std::string_view source, const std::string& path, const std::vector<SourceFile>& headers) {
  return parse_variant(source, path, headers, identity_of(path));
}

Variant load_variant(const std::string& path, const std::vector<std::filesystem::path>& roots,
                     const std::string& family) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status) && !fs::is_regular_file(status)) {
    throw UserError("'" + path + "' is not a regular file", "give the source file of the variant");
  }
  const bool is_object = fs::path(path).extension() == ".so";
  check_size(path, status, is_object ? kMaxObjectBytes : kMaxSourceBytes);
  const std::string text = read_file(path);
  const std::string absolute = fs::absolute(path).lexically_normal().string();
  if (fs::path(path).extension() == ".py" && !is_python(text)) {
    throw UserError("'" + path + "' does not begin with '# apo:' lines, which make a Triton kernel a variant",
                    "begin it with '# apo:launch KERNEL grid=BLOCKS'");
  }
  const FileIdentity identity = identity_of(absolute, family);
  const std::string source = is_object ? ffi_block(text, path, identity.family, identity.name) : text;
  const auto files_of = [&](const Variant& its) {
    std::vector<SourceFile> files;
    if (!is_python(source)) {
      files = find_headers(source, absolute, its.family, roots, include_folders(its).all());
    }
    if (!its.object.empty()) {
      files.push_back(is_object ? SourceFile{.name = its.object, .text = text, .path = absolute} : load_object(its));
      std::ranges::sort(files, {}, &SourceFile::name);
    }
    return files;
  };
  Variant variant = parse(source, absolute, files_of, identity);
  if (!family.empty() && variant.family != family) {
    throw UserError("'" + path + "' is " + variant.id() + ", and not of family " + family,
                    "name its own family, or change its apo:variant line");
  }
  return variant;
}

}  // namespace apo
