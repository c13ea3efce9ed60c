// harness/applications/record_folder.h - what a recorded family's reference works on, in a folder named by its content.
#pragma once

#include <filesystem>
#include <string>

#include "harness/applications/recorded_family.h"

namespace apo {

inline constexpr const char* kRecordedOperations = "call.record";
inline constexpr const char* kRecordedFamily = "family.h";  // and NAME.npy of every tensor

// Returns the folder within `records`, with the family, its encoded call and its tensors.
std::filesystem::path keep_record(const RecordedFamily& family, const std::string& call,
                                  const std::filesystem::path& records);

}  // namespace apo
