// journal/encode.cpp - encodes JSON columns and the compact form of samples.
#include "journal/encode.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/core/error.h"

namespace apo {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kSampleFormat = 1;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void damaged(const std::string& what) {
  throw EnvironmentError("the journal is damaged: " + what, "restore a copy; 'apo doctor' checks a journal");
}

// Runs `read` on the parsed text; a text of another form is damage, not our bug.
template <class Read>
auto parsed(const std::string& text, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    damaged(std::string("a JSON column: ") + error.what());
  }
}

Json number_to_json(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  return std::isinf(value) ? Json(value > 0 ? "inf" : "-inf") : Json(value);
}

double number_from_json(const Json& json) {
  if (!json.is_string()) {
    return json.get<double>();
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string word = json.get<std::string>();
  return word == "inf" ? infinity : word == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

// ---- the fields of a round's environment as numbers; one that was not read has none

template <class Field>
double number_of(Field field) {
  if constexpr (std::is_same_v<Field, Layout>) {
    return field == Layout::random ? 1 : 0;
  } else {
    return static_cast<double>(field);
  }
}

template <class Field>
Field field_of(double number) {
  if constexpr (std::is_same_v<Field, Layout>) {
    return number == 0 ? Layout::fixed : Layout::random;
  } else if constexpr (std::is_same_v<Field, std::uint64_t>) {
    if (!(number >= 0 && number <= 1e15)) {  // this form also catches NaN
      damaged("the clock events of a round are no bits");
    }
  }
  return static_cast<Field>(number);
}

void add_field(Json& json, const std::string& key, bool field) {
  if (field) {
    json[key] = 1.0;
  }
}
template <class Field>
void add_field(Json& json, const std::string& key, const std::optional<Field>& field) {
  if (field) {
    json[key] = number_to_json(number_of(*field));
  }
}

void set_field(double number, bool& field) {
  field = number != 0;
}
template <class Field>
void set_field(double number, std::optional<Field>& field) {
  field = field_of<Field>(number);
}

// Encodes the check of one workload in a round of so many.
std::string check_key(const char* name, const RoundWorkload& workload, std::size_t workloads) {
  return workloads > 1 ? std::string(name) + "_" + workload.workload : name;
}

void put(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>((value & 0x7f) | 0x80);
  }
  bytes += static_cast<char>(value);
}

std::uint64_t zigzag(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value) << 1;
  return value < 0 ? ~bits : bits;
}

std::int64_t unzigzag(std::uint64_t bits) {
  return static_cast<std::int64_t>((bits & 1) != 0 ? ~(bits >> 1) : bits >> 1);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t next() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (position_ == bytes_.size()) {
        damaged("the samples of a round end too early");
      }
      const auto byte = static_cast<unsigned char>(bytes_[position_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    damaged("the samples of a round hold no number where one should be");
  }

  // A count of things that take at least one byte each.
  std::size_t count() {
    const std::uint64_t value = next();
    if (value > bytes_.size() - position_) {
      damaged("the samples of a round end too early");
    }
    return static_cast<std::size_t>(value);
  }

  bool at_end() const { return position_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

void put_blocks(std::string& bytes, const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    put(bytes, block.samples.size());
    for (const Sample& sample : block.samples) {
      put(bytes, zigzag(sample.slot));
      put(bytes, zigzag(sample.ns));
    }
  }
}

std::vector<Block> next_blocks(Reader& reader, std::size_t count) {
  std::vector<Block> blocks(count);
  for (Block& block : blocks) {
    block.samples.resize(reader.count());
    for (Sample& sample : block.samples) {
      sample.slot = static_cast<int>(unzigzag(reader.next()));
      sample.ns = unzigzag(reader.next());
    }
  }
  return blocks;
}

template <class T>
Json written(const T& value) {
  return value;
}
Json written(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) {
    list.push_back(number_to_json(number));
  }
  return list;
}
Json written(const Tunable& tunable) {
  Json entry = Json::array({tunable.name, tunable.values});
  if (!tunable.technique.empty()) {
    entry.push_back(tunable.technique);
  }
  return entry;
}
Json written(const ScratchBuffer& buffer) {
  Json entry = Json::array({buffer.name, buffer.bytes});
  if (!buffer.when.empty()) {
    entry.push_back(buffer.when);
  }
  return entry;
}
Json written(const CommandRun& run) {
  if (run.values.empty()) {
    return number_to_json(run.value);
  }
  Json list = Json::array();
  for (const NamedValue& one : run.values) {
    list.push_back(Json::array({one.name, one.value}));
  }
  return list;
}
Json written(const Launch& launch) {
  return Json::array({launch.kernel, Json(launch.attributes)});
}
template <class One>
Json written(const std::vector<One>& list) {
  Json json = Json::array();
  for (const One& one : list) {
    json.push_back(written(one));
  }
  return json;
}

template <class T>
void read(const Json& json, T& value) {
  value = json.get<T>();
}
void read(const Json& json, std::vector<double>& numbers) {
  for (const Json& number : json) {
    numbers.push_back(number_from_json(number));
  }
}
void read(const Json& json, std::vector<Tunable>& tunables) {
  for (const Json& entry : json) {
    static_cast<void>(entry.at(1).at(0));  // without a value it is damaged: the first one is the default
    tunables.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::vector<std::int64_t>>(),
                        entry.size() > 2 ? entry.at(2).get<std::string>() : ""});
  }
}
void read(const Json& json, std::vector<ScratchBuffer>& scratch) {
  for (const Json& entry : json) {
    scratch.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::string>(),
                       entry.size() > 2 ? entry.at(2).get<std::string>() : ""});
  }
}
void read(const Json& json, std::vector<CommandRun>& runs) {
  for (const Json& entry : json) {
    CommandRun& run = runs.emplace_back();
    if (!entry.is_array()) {
      run.value = number_from_json(entry);
      continue;
    }
    for (const Json& one : entry) {
      run.values.push_back({one.at(0).get<std::string>(), one.at(1).get<double>()});
    }
    run.value = geometric_mean(run.values);
  }
}
void read(const Json& json, std::vector<Launch>& launches) {
  for (const Json& entry : json) {
    launches.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::map<std::string, std::string>>()});
  }
}

}  // namespace

template <class T>
std::string encode(const T& value) {
  return dump(written(value));
}

template <class T>
void decode(const std::string& json, T& value) {
  parsed(json, [&](const Json& whole) {
    value = {};
    read(whole, value);
  });
}
template std::string encode(const std::vector<std::string>& value);
template void decode(const std::string& json, std::vector<std::string>& value);
template std::string encode(const Settings& value);
template void decode(const std::string& json, Settings& value);
template std::string encode(const std::vector<double>& value);
template void decode(const std::string& json, std::vector<double>& value);
template std::string encode(const std::vector<CommandRun>& value);
template void decode(const std::string& json, std::vector<CommandRun>& value);
template std::string encode(const std::map<std::string, std::string>& value);
template void decode(const std::string& json, std::map<std::string, std::string>& value);
template std::string encode(const std::map<std::string, double>& value);
template void decode(const std::string& json, std::map<std::string, double>& value);
template std::string encode(const std::vector<Tunable>& value);
template void decode(const std::string& json, std::vector<Tunable>& value);
template std::string encode(const std::vector<ScratchBuffer>& value);
template void decode(const std::string& json, std::vector<ScratchBuffer>& value);
template std::string encode(const std::vector<Launch>& value);
template void decode(const std::string& json, std::vector<Launch>& value);

std::string encode_environment(const Round& round) {
  Json json = Json::object();
  const auto add = [&](const std::string& key, const auto& field) { add_field(json, key, field); };
  visit_environment(round.environment, add);
  for (const RoundWorkload& workload : round.workloads) {
    visit_checks(workload.checks, [&](const char* name, const auto& field) {
      add(check_key(name, workload, round.workloads.size()), field);
    });
  }
  return dump(json);
}

void decode_environment(const std::string& text, Round& round) {
  parsed(text, [&](const Json& json) {
    const auto read = [&](const std::string& key, auto& field) {
      if (const auto found = json.find(key); found != json.end()) {
        set_field(number_from_json(*found), field);
      }
    };
    visit_environment(round.environment, read);
    for (RoundWorkload& workload : round.workloads) {
      visit_checks(workload.checks, [&](const char* name, auto& field) {
        read(check_key(name, workload, round.workloads.size()), field);
      });
    }
  });
}

std::string encode_samples(const std::vector<Block>& warmup, const std::vector<Block>& blocks) {
  std::string bytes;
  put(bytes, kSampleFormat);
  put(bytes, warmup.size());
  put(bytes, blocks.size());
  put_blocks(bytes, warmup);
  put_blocks(bytes, blocks);
  return bytes;
}

void decode_samples(std::string_view bytes, std::vector<Block>& warmup, std::vector<Block>& blocks) {
  Reader reader(bytes);
  if (reader.next() != kSampleFormat) {
    damaged("the samples of a round are in an unknown format");
  }
  const std::size_t warmup_blocks = reader.count();
  const std::size_t timed_blocks = reader.count();
  warmup = next_blocks(reader, warmup_blocks);
  blocks = next_blocks(reader, timed_blocks);
  if (!reader.at_end()) {
    damaged("the samples of a round are longer than they say");
  }
}

}  // namespace apo
