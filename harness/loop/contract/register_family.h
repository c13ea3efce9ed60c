// harness/loop/contract/register_family.h - families in .apo/families: each in a folder with what its file needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "harness/families/family_file.h"

namespace apo {

enum class FamilyRegistration : std::uint8_t { unknown, same, changed };

// Throws UserError when the name is taken by a family that is not registered: one of the program.
FamilyRegistration find_registration(const FamilyFile& file, const std::filesystem::path& registered);
std::filesystem::path registered_path(const FamilyFile& file, const std::filesystem::path& registered);
// Writes the file and its headers or scripts, all or none, over those of a former version.
void keep_family(const FamilyFile& file, const std::filesystem::path& registered);

// Moves the folder to <registered>/.retired/<name>; false when no family of the name is registered.
bool retire_family(std::string_view name, const std::filesystem::path& registered);

}  // namespace apo
