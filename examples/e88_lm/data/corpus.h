// data/corpus.h - text as bytes: documents from files, split by a hash of their content into train and held-out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace byte_lm {

// Stands between documents, as in the Pile's raw text; read by the model, never scored.
constexpr unsigned char kSeparator = 0x1e;

// A separator before each document and one after the last.
struct Corpus {
  std::string train;
  std::string held_out;
  std::int64_t train_documents = 0;
  std::int64_t held_out_documents = 0;

  std::uint64_t hash() const;  // of the bytes and their split
};

// The documents of files, or of all text files in folders, in an order that does not depend on the file system. A file
// with separators holds several. Throws UserError for what can't be read.
std::vector<std::string> read_documents(const std::vector<std::filesystem::path>& paths);

// One document in ten is held out. Its content decides, so that a copy of a document is on the same side.
bool is_held_out(std::string_view document);

// Throws UserError where a side has no document.
Corpus split(const std::vector<std::string>& documents);

// Bytes of the stream that are scored when each is a target once.
std::int64_t scored_bytes(std::string_view stream);

// The loss on held-out bytes, in nats a byte, of a model that knows only how often each byte is in train.
double byte_frequency_loss(const Corpus& corpus);

}  // namespace byte_lm
