// journal/foreign_sqlite.h - reads databases of other programs: the SQLite export of Nsight Systems.
//
// It stands here because this folder alone knows SQLite; it has nothing to do with the journal's own file.
#pragma once

#include <filesystem>
#include <string_view>

#include "harness/core/applications/application_profile.h"

namespace apo {

// Whether a file that starts like this is an SQLite database.
bool is_sqlite(std::string_view beginning);

// Kernels, copies and fills of `nsys export --type sqlite`, and the gaps between them. Throws UserError for anything
// else, and for tables that are not as Nsight Systems makes them.
ApplicationProfile read_nsys(const std::filesystem::path& path);

}  // namespace apo
