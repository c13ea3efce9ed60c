// harness/loop/exchange/safetensors.cpp - checks every number of the header against the file.
// The format: github.com/huggingface/safetensors, README.md.
#include "harness/loop/exchange/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/files.h"

namespace apo {
namespace {

using Document = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "the length and the data are little-endian");

constexpr std::pair<DType, const char*> kNames[] = {
    {DType::f64, "F64"}, {DType::f32, "F32"},      {DType::f16, "F16"},      {DType::bf16, "BF16"},
    {DType::i64, "I64"}, {DType::e4m3, "F8_E4M3"}, {DType::e5m2, "F8_E5M2"}, {DType::i32, "I32"},
    {DType::i16, "I16"}, {DType::i8, "I8"},        {DType::u8, "U8"},        {DType::boolean, "BOOL"}};

std::optional<DType> dtype_of(const std::string& name) {
  for (const auto& [dtype, text] : kNames) {
    if (name == text) {
      return dtype;
    }
  }
  return std::nullopt;
}

const char* name_of(DType dtype) {
  for (const auto& [each, text] : kNames) {
    if (each == dtype) {
      return text;
    }
  }
  return "";
}

}  // namespace

StoredTensor read_safetensor(const std::filesystem::path& path, const std::string& key) {
  const auto fail = [&](const std::string& why) -> UserError {
    return UserError("'" + path.string() + "' is not a usable .safetensors file: " + why,
                     "write it anew with safetensors.torch.save_file()");
  };
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  if (file.size() < sizeof length) {
    throw fail("it is shorter than its length field");
  }
  std::memcpy(&length, file.data(), sizeof length);
  if (length > file.size() - sizeof length) {
    throw fail("its header is cut off");
  }
  const Document header = Document::parse(std::string_view(file).substr(sizeof length, length), nullptr, false);
  if (!header.is_object() || !header.contains(key)) {
    throw fail(header.is_object() ? "it has no tensor '" + key + "'" : "its header is no JSON object");
  }
  const std::string_view data = std::string_view(file).substr(sizeof length + length);
  try {
    const Document& entry = header.at(key);
    const auto dtype = dtype_of(entry.at("dtype").get<std::string>());
    if (!dtype) {
      throw fail("the dtype of '" + key + "' is " + entry.at("dtype").dump());
    }
    StoredTensor tensor{.key = key, .dtype = *dtype, .shape = entry.at("shape"), .bytes = ""};
    const auto begin = entry.at("data_offsets").at(0).get<std::uint64_t>();
    const auto end = entry.at("data_offsets").at(1).get<std::uint64_t>();
    std::uint64_t bytes = static_cast<std::uint64_t>(dtype_bytes(*dtype));
    for (const std::int64_t extent : tensor.shape) {
      if (extent < 0 || (extent > 0 && bytes > data.size() / static_cast<std::uint64_t>(extent))) {
        throw fail("the shape of '" + key + "' is larger than the file");
      }
      bytes *= static_cast<std::uint64_t>(extent);
    }
    if (begin > end || end > data.size() || end - begin != bytes) {
      throw fail("the offsets of '" + key + "' do not fit its shape and the file");
    }
    tensor.bytes = data.substr(begin, bytes);
    return tensor;
  } catch (const Document::exception&) {
    throw fail("the entry of '" + key + "' has no dtype, shape and data_offsets");
  }
}

std::string safetensors_text(const std::vector<StoredTensor>& tensors) {
  Document header = Document::object();
  std::string data;
  for (const StoredTensor& tensor : tensors) {
    header[tensor.key] = {{"dtype", name_of(tensor.dtype)},
                          {"shape", tensor.shape},
                          {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data are aligned
  const std::uint64_t length = text.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + text + data;
}

}  // namespace apo
