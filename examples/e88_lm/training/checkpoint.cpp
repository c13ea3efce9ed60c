// training/checkpoint.cpp - a header, the numbers, and a hash over both.
#include "training/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <type_traits>

#include "data/error.h"
#include "model/random.h"

namespace byte_lm {
namespace {

struct Header {
  std::array<char, 8> magic = {'e', '8', '8', '_', 'l', 'm', '0', '1'};
  TrainingIdentity identity;
  std::int64_t step = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t hash = 0;  // of the header with 0 here, and of the data
};
static_assert(std::is_trivially_copyable_v<Header> && std::has_unique_object_representations_v<Header>);

std::string_view bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::uint64_t hash_of_file(Header header, const std::vector<std::byte>& data) {
  header.hash = 0;
  // Words, not bytes: a checkpoint of the large model has 5 GB.
  std::uint64_t hash = hash_of(bytes_of(header));
  for (std::size_t at = 0; at < data.size(); at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + at, std::min(sizeof word, data.size() - at));
    hash = mix(hash ^ word) + 0x9e3779b97f4a7c15u;
  }
  return hash;
}

// A file descriptor, closed with its owner.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : path_(path), number_(open(path.c_str(), flags, 0644)) {
    check(number_ >= 0, "open");
  }
  ~Descriptor() { close(number_); }  // what matters was flushed
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write_all(const void* data, std::size_t bytes) const {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = write(number_, from, bytes);
      check(written > 0 || errno == EINTR, "write");
      from += written > 0 ? written : 0;
      bytes -= static_cast<std::size_t>(written > 0 ? written : 0);
    }
  }
  void flush() const { check(fsync(number_) == 0, "flush"); }

 private:
  void check(bool good, const char* what) const {
    if (!good) {
      throw std::runtime_error(std::string("can't ") + what + " " + path_.string() + ": " + std::strerror(errno));
    }
  }
  std::filesystem::path path_;
  int number_;
};

void write_whole(const std::filesystem::path& file, const Header& header, const std::vector<std::byte>& data) {
  const Descriptor out(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  out.write_all(&header, sizeof header);
  out.write_all(data.data(), data.size());
  out.flush();
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const TrainingState& state) {
  Header header = {.identity = state.identity, .step = state.step, .data_bytes = state.data.size()};
  header.hash = hash_of_file(header, state.data);
  const std::filesystem::path beside = file.string() + ".writing";
  write_whole(beside, header, state.data);
  std::filesystem::rename(beside, file);
  Descriptor(folder_of(file), O_RDONLY | O_DIRECTORY | O_CLOEXEC).flush();  // the name, too
}

TrainingState read_checkpoint(const std::filesystem::path& file, const TrainingIdentity& expected) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw UserError("no checkpoint " + file.string(), "begin without --resume");
  }
  Header header;
  const auto magic = header.magic;
  stream.read(reinterpret_cast<char*>(&header), sizeof header);
  const bool is_ours =
      stream.good() && header.magic == magic && std::filesystem::file_size(file) == sizeof header + header.data_bytes;
  if (!is_ours) {
    throw UserError(file.string() + " is no whole checkpoint", "begin without --resume");
  }
  if (!(header.identity == expected)) {
    throw UserError(file.string() + " is of another model, batch, seed, device or text",
                    "resume with the flags and texts that it was begun with");
  }
  TrainingState state = {.identity = header.identity, .step = header.step, .data = {}};
  state.data.resize(header.data_bytes);
  stream.read(reinterpret_cast<char*>(state.data.data()), static_cast<std::streamsize>(state.data.size()));
  if (!stream || hash_of_file(header, state.data) != header.hash) {
    throw UserError(file.string() + " is damaged: its hash is wrong", "begin without --resume");
  }
  return state;
}

}  // namespace byte_lm
