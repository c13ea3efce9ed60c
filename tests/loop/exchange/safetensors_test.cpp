// tests/loop/exchange/safetensors_test.cpp - what is written is read, and a damaged file is one error.
#include "harness/loop/exchange/safetensors.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/system/files.h"

namespace apo {
namespace {

const StoredTensor kPages = {.key = "pages", .dtype = DType::i32, .shape = {2, 3}, .bytes = std::string(24, '\1')};
const StoredTensor kScale = {.key = "scale", .dtype = DType::bf16, .shape = {}, .bytes = "ab"};

TEST(Safetensors, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "x.safetensors", safetensors_text({kPages, kScale}));
  const StoredTensor read = read_safetensor(folder.path() / "x.safetensors", "scale");
  EXPECT_EQ(read.dtype, DType::bf16);
  EXPECT_EQ(read.shape, kScale.shape);
  EXPECT_EQ(read.bytes, kScale.bytes);
  EXPECT_EQ(read_safetensor(folder.path() / "x.safetensors", "pages").shape, kPages.shape);
}

TEST(Safetensors, ADamagedFileIsOneErrorThatNamesIt) {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& text, const std::string& key = "pages") -> std::string {
    write_file_atomically(folder.path() / "x.safetensors", text);
    try {
      read_safetensor(folder.path() / "x.safetensors", key);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  const std::string whole = safetensors_text({kPages});
  const auto with_header = [](const std::string& header) {
    return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header + std::string(24, '\1');
  };
  EXPECT_EQ(error_of(whole), "");
  EXPECT_NE(error_of("abc").find("shorter than its length field"), std::string::npos);
  EXPECT_NE(error_of(std::string(8, '\xff')).find("header is cut off"), std::string::npos);
  EXPECT_NE(error_of(whole.substr(0, whole.size() - 1)).find("larger than the file"), std::string::npos);
  EXPECT_NE(error_of(whole, "other").find("no tensor 'other'"), std::string::npos);
  EXPECT_NE(error_of(with_header("[1]")).find("no JSON object"), std::string::npos);
  EXPECT_NE(error_of(with_header(R"({"pages":{"dtype":"I32"}})")).find("no dtype, shape and"), std::string::npos);
  EXPECT_NE(error_of(with_header(R"({"pages":{"dtype":"F4","shape":[6],"data_offsets":[0,24]}})")).find("F4"),
            std::string::npos);
  EXPECT_NE(error_of(with_header(R"({"pages":{"dtype":"I32","shape":[6],"data_offsets":[1,25]}})")).find("offsets"),
            std::string::npos);
  EXPECT_NE(error_of(with_header(R"({"pages":{"dtype":"I32","shape":[-6],"data_offsets":[0,24]}})")).find("shape"),
            std::string::npos);
}

}  // namespace
}  // namespace apo
