// harness/worker/protocol/images.h - the images that a driver loaded, on the way to the parent in the file of an
// ImagesRequest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

std::string encode_images(const std::vector<std::string>& images);
// nullopt where the text is none of encode_images().
std::optional<std::vector<std::string>> decode_images(std::string_view text);

}  // namespace apo
