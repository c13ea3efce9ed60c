// harness/core/applications/application_document.h - reads the declaration of an application in a campaign file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/core/applications/declared_application.h"

namespace apo {

// Reads the value of the key "application". Throws UserError that ends with `where`.
DeclaredApplication read_application(const nlohmann::json& json, const std::string& where);
// Reads a file with that key: a campaign file, or one with nothing else but application_kernels.
DeclaredApplication load_application(const std::string& file);

}  // namespace apo
