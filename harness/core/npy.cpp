// harness/core/npy.cpp - reads and writes NumPy's .npy format 1.0 (numpy.lib.format describes it).
#include "harness/core/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/core/error.h"
#include "harness/core/pattern.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy files are written as little-endian memory");
constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) {
    text += fmt::format("{},", extent);
  }
  return text + ")";
}

struct Descr {
  DType dtype;
  std::string_view text;
};

constexpr Descr kDescrs[] = {{DType::f64, "<f8"}, {DType::f32, "<f4"}, {DType::f16, "<f2"},
                             {DType::i64, "<i8"}, {DType::i32, "<i4"}, {DType::i16, "<i2"},
                             {DType::i8, "|i1"},  {DType::u8, "|u1"},  {DType::boolean, "|b1"}};

const Descr& descr_of(DType dtype) {
  const auto* found = std::ranges::find(kDescrs, dtype, &Descr::dtype);
  return found == std::end(kDescrs) ? *std::ranges::find(kDescrs, DType::f32, &Descr::dtype) : *found;
}

void append_values(std::string& bytes, const std::vector<double>& values, DType dtype) {
  const auto width = static_cast<std::size_t>(dtype_bytes(dtype));
  const std::size_t start = bytes.size();
  bytes.resize(start + values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = to_bits(dtype, values[i]);
    std::memcpy(bytes.data() + start + i * width, &bits, width);
  }
}

std::vector<double> read_values(std::string_view bytes, std::size_t count, DType dtype) {
  const auto width = static_cast<std::size_t>(dtype_bytes(dtype));
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    values[i] = from_bits(dtype, bits);
  }
  return values;
}

}  // namespace

std::string npy_text(const std::vector<std::int64_t>& shape, const std::vector<double>& values, DType dtype) {
  const Descr& descr = descr_of(dtype);
  std::string header =
      "{'descr': '" + std::string(descr.text) + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  // The data start on a multiple of 64 bytes; the header ends with a newline.
  const std::size_t unpadded = kMagic.size() + 2 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  append_values(bytes, values, descr.dtype);
  return bytes;
}

void write_npy(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
               const std::vector<double>& values, DType dtype) {
  write_file_atomically(path, npy_text(shape, values, dtype));
}

NpyArray read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const auto fail = [&](const std::string& why) -> UserError {
    return UserError("'" + path.string() + "' is not a usable .npy file: " + why,
                     "write it with numpy.save(file, array.astype('<f4')) in C order");
  };
  // NumPy writes a later version than 1 for headers of more than 64 KiB alone.
  if (bytes.size() < 10 || !bytes.starts_with(kMagic.substr(0, 7))) {
    throw fail("it does not start with the NumPy magic bytes of version 1");
  }
  constexpr std::size_t kStart = 10;
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) | (static_cast<std::size_t>(static_cast<unsigned char>(bytes[9])) << 8);
  if (length > bytes.size() - kStart) {
    throw fail("its header is cut off");
  }
  const std::string header = bytes.substr(kStart, length);
  static const Pattern kForm(R"('descr': *'([^']*)'.*'fortran_order': *(True|False).*'shape': *\(([0-9, ]*)\))");
  const auto found = kForm.search(header);
  if (!found) {
    throw fail("its header '" + trim(header) + "' is not understood");
  }
  const PatternMatch& match = *found;
  const auto* descr = std::ranges::find(kDescrs, match[1], &Descr::text);
  if (descr == std::end(kDescrs)) {
    throw fail("its dtype is " + match[1] + ", needed one of <f4 <f8 <f2 <i8 <i4 <i2 |i1 |u1 |b1");
  }
  if (match[2] == "True") {
    throw fail("it is in Fortran order");
  }
  NpyArray array{.dtype = descr->dtype};
  std::size_t count = 1;
  for (const std::string& part : split(match[3], ',')) {
    if (const std::string digits = trim(part); !digits.empty()) {
      const auto extent = parse_int(digits);
      if (!extent || *extent < 0 || (*extent > 0 && count > bytes.size() / static_cast<std::size_t>(*extent))) {
        throw fail("its shape " + match[3] + " does not fit the file");
      }
      array.shape.push_back(*extent);
      count *= static_cast<std::size_t>(*extent);
    }
  }
  const auto width = static_cast<std::size_t>(dtype_bytes(descr->dtype));
  const std::string_view data = std::string_view(bytes).substr(kStart + length);
  if (data.size() != count * width) {
    throw fail(fmt::format("it holds {} bytes of data, its shape needs {}", data.size(), count * width));
  }
  array.values = read_values(data, count, descr->dtype);
  return array;
}

}  // namespace apo
