// harness/loop/contract/register_family.h - families in .apo/families: each in a folder with what its file needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/families/family_file.h"

namespace apo {

enum class FamilyRegistration : std::uint8_t { unknown, same, changed };

// Throws UserError when the name is taken by a family that is not registered: one of the program.
FamilyRegistration find_registration(const FamilyFile& file, const std::filesystem::path& registered);
std::filesystem::path registered_path(const FamilyFile& file, const std::filesystem::path& registered);
// Writes the file and its headers or scripts, all or none, over those of a former version.
void keep_family(const FamilyFile& file, const std::filesystem::path& registered);

// Moves the family's folder to .apo/retired/families/ and returns where it is. Throws UserError when no family of the
// name is registered.
std::string retire_family(const std::string& name, const std::filesystem::path& registered);

}  // namespace apo
