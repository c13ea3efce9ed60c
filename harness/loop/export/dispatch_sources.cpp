// harness/loop/export/dispatch_sources.cpp - takes sources as measured, from the journal and not from the checkout.
#include "harness/loop/export/dispatch_sources.h"

#include <algorithm>
#include <cctype>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/headers.h"

namespace apo {

std::string source_file(const DispatchRow& row) {
  return row.variant.name + source_extension(row.variant);
}

std::string source_folder(const DispatchRow& row) {
  std::string folder = row.variant.family + "/" + row.variant.name + "-" + row.variant.source_hash.substr(0, 12);
  for (const Tunable& tunable : row.variant.tunables) {  // toggles decide which buffers the arguments have
    folder += !tunable.technique.empty() && row.settings.at(tunable.name) != 0 ? "-" + tunable.name : "";
  }
  return folder;
}

std::vector<NamedText> dispatch_sources(const DispatchTable& table) {
  std::vector<NamedText> files;
  for (const DispatchDevice& device : table.devices) {
    for (const DispatchRow& row : device.rows) {
      const std::filesystem::path folder = source_folder(row);
      const auto letter_is_plain = [](char letter) {
        return letter == '_' || letter == '-' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
      };
      if (!std::all_of(row.variant.name.begin(), row.variant.name.end(), letter_is_plain)) {
        throw UserError("variant '" + row.variant.id() + "' cannot be written to a file of its name");
      }
      const std::filesystem::path path = folder / source_file(row);
      if (std::any_of(files.begin(), files.end(), [&](const NamedText& one) { return one.path == path; })) {
        continue;
      }
      if (std::ranges::any_of(row.variant.headers, [](const SourceFile& file) { return is_binary(file.text); })) {
        throw UserError("variant '" + row.variant.id() + "' is a shared object and has no source to export",
                        "'apo export --dispatch' without --with-sources writes the table: ship the object itself");
      }
      check_headers(row.variant.headers, "journal:" + row.variant.id(), row.variant.family);
      files.push_back({path, row.variant.source});
      for (const SourceFile& header : row.variant.headers) {
        files.push_back({folder / header.name, header.text});
      }
      files.push_back({folder / args_header_name(*table.family), exported_args_header(*table.family, row.variant)});
    }
  }
  return files;
}

}  // namespace apo
