// harness/core/npy.cpp - reads and writes NumPy's .npy format 1.0 (numpy.lib.format describes it).
#include "harness/core/npy.h"

#include <bit>
#include <cstring>
#include <regex>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy files are written as little-endian memory");
constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) {
    text += std::to_string(extent) + ",";
  }
  return text + ")";
}

template <class Value>
void append_values(std::string& bytes, const std::vector<double>& values) {
  const std::size_t start = bytes.size();
  bytes.resize(start + values.size() * sizeof(Value));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<Value>(values[i]);
    std::memcpy(bytes.data() + start + i * sizeof(Value), &value, sizeof value);
  }
}

template <class Value>
std::vector<double> read_values(std::string_view bytes, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    Value value;
    std::memcpy(&value, bytes.data() + i * sizeof(Value), sizeof value);
    values[i] = static_cast<double>(value);
  }
  return values;
}

}  // namespace

void write_npy(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
               const std::vector<double>& values, DType dtype) {
  const char* kind = dtype == DType::f64 ? "<f8" : "<f4";
  std::string header =
      std::string("{'descr': '") + kind + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  // The data start on a multiple of 64 bytes; the header ends with a newline.
  const std::size_t unpadded = kMagic.size() + 2 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  if (dtype == DType::f64) {
    append_values<double>(bytes, values);
  } else {
    append_values<float>(bytes, values);
  }
  write_file_atomically(path, bytes);
}

NpyArray read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const auto fail = [&](const std::string& why) -> UserError {
    return UserError("'" + path.string() + "' is not a usable .npy file: " + why,
                     "write it with numpy.save(file, array.astype('<f4')) in C order");
  };
  if (bytes.size() < 10 || std::string_view(bytes).substr(0, 6) != kMagic.substr(0, 6)) {
    throw fail("it does not start with the NumPy magic bytes");
  }
  const bool wide = bytes[6] >= 2;  // versions 2 and 3 have a four-byte length
  std::size_t length =
      static_cast<unsigned char>(bytes[8]) | (static_cast<std::size_t>(static_cast<unsigned char>(bytes[9])) << 8);
  std::size_t start = 10;
  if (wide) {
    if (bytes.size() < 12) {
      throw fail("its header is cut off");
    }
    length |= (static_cast<std::size_t>(static_cast<unsigned char>(bytes[10])) << 16) |
              (static_cast<std::size_t>(static_cast<unsigned char>(bytes[11])) << 24);
    start = 12;
  }
  if (length > bytes.size() - start) {
    throw fail("its header is cut off");
  }
  const std::string header = bytes.substr(start, length);
  std::smatch match;
  static const std::regex kForm(R"('descr': *'([^']*)'.*'fortran_order': *(True|False).*'shape': *\(([0-9, ]*)\))");
  if (!std::regex_search(header, match, kForm)) {
    throw fail("its header '" + trim(header) + "' is not understood");
  }
  const std::string dtype = match[1];
  if (dtype != "<f4" && dtype != "<f8") {
    throw fail("its dtype is " + dtype + ", needed <f4 or <f8");
  }
  if (match[2] == "True") {
    throw fail("it is in Fortran order");
  }
  NpyArray array;
  std::size_t count = 1;
  for (const std::string& part : split(match[3].str(), ',')) {
    if (const std::string digits = trim(part); !digits.empty()) {
      const auto extent = parse_int(digits);
      if (!extent || *extent < 0 || (*extent > 0 && count > bytes.size() / static_cast<std::size_t>(*extent))) {
        throw fail("its shape " + match[3].str() + " does not fit the file");
      }
      array.shape.push_back(*extent);
      count *= static_cast<std::size_t>(*extent);
    }
  }
  const std::size_t width = dtype == "<f4" ? 4 : 8;
  const std::string_view data = std::string_view(bytes).substr(start + length);
  if (data.size() != count * width) {
    throw fail("it holds " + std::to_string(data.size()) + " bytes of data, its shape needs " +
               std::to_string(count * width));
  }
  array.values = width == 4 ? read_values<float>(data, count) : read_values<double>(data, count);
  return array;
}

}  // namespace apo
