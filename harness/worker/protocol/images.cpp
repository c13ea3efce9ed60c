// harness/worker/protocol/images.cpp - their sizes, one line of JSON, then they themselves.
#include "harness/worker/protocol/images.h"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace apo {

std::string encode_images(const std::vector<std::string>& images) {
  nlohmann::json sizes = nlohmann::json::array();
  std::string bytes;
  for (const std::string& image : images) {
    sizes.push_back(image.size());
    bytes += image;
  }
  return sizes.dump() + "\n" + bytes;
}

std::optional<std::vector<std::string>> decode_images(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  try {
    std::vector<std::string> images;
    std::string_view left = text.substr(end + 1);
    const nlohmann::json sizes = nlohmann::json::parse(text.substr(0, end));
    if (!sizes.is_array()) {
      return std::nullopt;
    }
    for (const nlohmann::json& one : sizes) {
      const std::size_t size = one.is_number_unsigned() ? one.get<std::size_t>() : std::string::npos;
      if (size > left.size()) {
        return std::nullopt;
      }
      images.emplace_back(left.substr(0, size));
      left.remove_prefix(size);
    }
    return left.empty() ? std::optional(images) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace apo
