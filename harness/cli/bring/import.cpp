// harness/cli/bring/import.cpp - `apo import`: profiles of an application that other tools recorded.
#include <CLI/CLI.hpp>
#include <array>
#include <fstream>
#include <memory>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/look/profile_application.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/profile/application/ncu_csv.h"
#include "journal/foreign_sqlite.h"

namespace apo {
namespace {

struct ImportOptions {
  std::string file;
  ApplicationOptions application;
};

std::string beginning_of(const std::string& path) {
  std::array<char, 16> bytes{};
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(stream.gcount())};
}

// Reports of the tools themselves can't be read: their formats are NVIDIA's own.
std::string how_to_export(const std::string& path) {
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep")) {
    return "export it first: 'nsys export --type sqlite " + path + "'";
  }
  if (path.ends_with(".ncu-rep")) {
    return "export it first: 'ncu --import " + path + " --csv --page raw > FILE.csv'";
  }
  return "make one with 'nsys export --type sqlite REPORT' or 'ncu --csv --log-file FILE COMMAND'";
}

ApplicationProfile read(const std::string& path) {
  if (is_sqlite(beginning_of(path))) {
    return read_nsys(path);
  }
  const std::string text = read_file(path);
  if (!is_ncu_csv(text)) {
    throw UserError("'" + path + "' is neither an SQLite export of Nsight Systems nor CSV of ncu", how_to_export(path));
  }
  return read_ncu_csv(text, path);
}

}  // namespace

Action define_import(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ImportOptions>();
  app.add_option("file", options->file, "SQLite export of Nsight Systems, or the output of 'ncu --csv'")->required();
  add_application_options(app, options->application);
  return [options, &globals] { return show_application(read(options->file), options->application, globals); };
}

}  // namespace apo
