// journal/encode.h - encodes a list, a map or a round's samples for one column.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// JSON texts. Bytes that are not UTF-8 become U+FFFD. Decoders throw EnvironmentError on text that no encoder wrote.
// For lists of texts and of numbers, maps of texts to texts and numbers, Settings, tunables, buffers and launches; and
// for runs of commands, without their sides.
template <class T>
std::string encode(const T& value);
template <class T>
void decode(const std::string& json, T& value);

// The column round.environment: a JSON object of numbers, whatever was read. Names that this apo does not know are
// ignored. Decoding needs the round's workloads, and fills their checks.
std::string encode_environment(const Round& round);
void decode_environment(const std::string& json, Round& round);

// The format that schema.sql describes at round_workload. Decoding checks every length.
std::string encode_samples(const std::vector<Block>& warmup, const std::vector<Block>& blocks);
void decode_samples(std::string_view bytes, std::vector<Block>& warmup, std::vector<Block>& blocks);

}  // namespace apo
