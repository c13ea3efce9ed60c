// harness/core/recording/recording_file.cpp - writes plainly; checks every number and the number of lines on reading.
#include "harness/core/recording/recording_file.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "harness/core/error.h"

namespace apo {
namespace {

constexpr std::string_view kHeader = "apo-recording\t1";
// Keeps sums over all files of an application from overflowing: 115 days of GPU time in one process.
constexpr std::int64_t kMostNs = 10'000'000'000'000'000;
constexpr std::int64_t kMostCount = std::int64_t{1} << 50;
constexpr std::size_t kMostRangesOfAFile = 1024;
constexpr int kMostDepth = 64;

// Fields hold no tab and no line end.
void add_text(std::string& line, std::string_view text) {
  line += '\t';
  for (const char c : text) {
    const char* const escape = c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\\' ? "\\\\" : nullptr;
    if (escape != nullptr) {
      line += escape;
    } else {
      line += c;
    }
  }
}

void add_line(std::string& text, std::string_view word, std::initializer_list<std::int64_t> numbers) {
  text += word;
  for (const std::int64_t number : numbers) {
    text += '\t';
    text += std::to_string(number);
  }
}

std::string unescaped(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\') {
      text += field[i];
      continue;
    }
    const char next = ++i < field.size() ? field[i] : '\0';
    if (next != 't' && next != 'n' && next != '\\') {
      throw UserError("an escape that is none");
    }
    text += next == 't' ? '\t' : next == 'n' ? '\n' : '\\';
  }
  return text;
}

// The fields of one line, from left to right.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}
  std::string_view next() {
    if (done_) {
      throw UserError("too few fields");
    }
    const std::size_t tab = rest_.find('\t');
    const std::string_view field = rest_.substr(0, tab);
    done_ = tab == std::string_view::npos;
    rest_ = done_ ? std::string_view() : rest_.substr(tab + 1);
    return field;
  }
  std::int64_t number(std::int64_t most) {
    const std::string_view field = next();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || value < 0 || value > most) {
      throw UserError("'" + std::string(field.substr(0, 40)) + "' is no number from 0 to " + std::to_string(most));
    }
    return value;
  }
  std::string text() { return unescaped(next()); }
  void finish() const {
    if (!done_) {
      throw UserError("too many fields");
    }
  }

 private:
  std::string_view rest_;
  bool done_ = false;
};

WorkKind kind_of(std::string_view word) {
  for (const WorkKind kind : {WorkKind::kernel, WorkKind::copy, WorkKind::fill}) {
    if (word == to_string(kind)) {
      return kind;
    }
  }
  throw UserError("unknown kind of work '" + std::string(word.substr(0, 40)) + "'");
}

GpuWork read_work(Fields& fields) {
  GpuWork work{.kind = kind_of(fields.next())};
  work.calls = fields.number(kMostCount);
  work.total_ns = fields.number(kMostNs);
  work.min_ns = fields.number(kMostNs);
  work.max_ns = fields.number(kMostNs);
  work.bytes = fields.number(std::numeric_limits<std::int64_t>::max() / 1024);
  work.name = fields.text();
  if (work.calls == 0 || work.min_ns > work.max_ns || work.max_ns > work.total_ns) {
    throw UserError("calls and times that contradict each other");
  }
  return work;
}

DeviceBusy read_device(Fields& fields) {
  DeviceBusy busy;
  busy.device = static_cast<int>(fields.number(1'000'000));
  busy.first_ns = fields.number(std::numeric_limits<std::int64_t>::max());
  busy.last_ns = fields.number(std::numeric_limits<std::int64_t>::max());
  busy.busy_ns = fields.number(kMostNs);
  busy.late = fields.number(kMostCount);
  busy.longest_gap_ns = fields.number(kMostNs);
  std::int64_t idle = 0;
  for (Gaps& gaps : busy.gaps) {
    gaps.count = fields.number(kMostCount);
    gaps.ns = fields.number(kMostNs);
    idle += gaps.ns;
  }
  if (busy.last_ns < busy.first_ns || busy.span_ns() > kMostNs || busy.busy_ns + idle != busy.span_ns()) {
    throw UserError("busy and idle times that do not make up the span");
  }
  return busy;
}

// Readers follow a range's parents: they are few, and come before it.
void add_range(Fields& fields, ProcessRecording& recording) {
  NvtxRange range;
  range.parent = fields.number(static_cast<std::int64_t>(recording.ranges.size())) - 1;
  range.entered = fields.number(kMostCount);
  range.name = fields.text();
  int depth = 0;
  for (std::int64_t parent = range.parent; parent >= 0; ++depth) {
    parent = recording.ranges[static_cast<std::size_t>(parent)].parent;
  }
  if (depth >= kMostDepth || recording.ranges.size() >= kMostRangesOfAFile) {
    throw UserError("more ranges than are told apart");
  }
  recording.ranges.push_back(std::move(range));
}

// Reads the work of the preceding range. No work is in two ranges, so that their sum is at most the whole.
void add_range_work(Fields& fields, ProcessRecording& recording, std::vector<RangeWork>& claimed) {
  RangeWork within;
  within.work = static_cast<std::size_t>(fields.number(kMostCount));
  within.calls = fields.number(kMostCount);
  within.total_ns = fields.number(kMostNs);
  claimed.resize(recording.work.size());
  if (recording.ranges.empty() || within.work >= recording.work.size()) {
    throw UserError("work of a range that is not there");
  }
  RangeWork& sum = claimed[within.work];
  sum.calls += within.calls;
  sum.total_ns += within.total_ns;
  if (sum.calls > recording.work[within.work].calls || sum.total_ns > recording.work[within.work].total_ns) {
    throw UserError("ranges with more work than there was");
  }
  recording.ranges.back().work.push_back(within);
}

// Sums over all lines so far, against which one is checked.
struct Sums {
  std::int64_t total_ns = 0;
  std::vector<RangeWork> claimed;  // by ranges, of each work
};

void read_line(std::string_view line, ProcessRecording& recording, Sums& sums) {
  Fields fields(line);
  const std::string_view word = fields.next();
  if (word == "process") {
    recording.pid = fields.number(std::numeric_limits<int>::max());
    recording.parent = fields.number(std::numeric_limits<int>::max());
    recording.complete = fields.number(1) != 0;
    recording.dropped = fields.number(kMostCount);
    recording.untimed = fields.number(kMostCount);
    recording.program = fields.text();
  } else if (word == "library") {
    recording.library = fields.text();
  } else if (word == "missing") {
    recording.missing = fields.text();
  } else if (word == "work") {
    recording.work.push_back(read_work(fields));
    sums.total_ns += recording.work.back().total_ns;
    if (sums.total_ns > kMostNs) {
      throw UserError("more time than a process can have");
    }
  } else if (word == "range") {
    add_range(fields, recording);
  } else if (word == "within") {
    add_range_work(fields, recording, sums.claimed);
  } else if (word == "device") {
    recording.devices.push_back(read_device(fields));
  } else {
    throw UserError("unknown record '" + std::string(word.substr(0, 40)) + "'");
  }
  fields.finish();
}

}  // namespace

std::string encode_recording(const ProcessRecording& recording) {
  std::string text(kHeader);
  text += '\n';
  add_line(text, "process",
           {recording.pid, recording.parent, recording.complete ? 1 : 0, recording.dropped, recording.untimed});
  add_text(text, recording.program);
  text += "\nlibrary";
  add_text(text, recording.library);
  text += "\nmissing";
  add_text(text, recording.missing);
  text += '\n';
  for (const GpuWork& work : recording.work) {
    text += "work\t";
    add_line(text, to_string(work.kind), {work.calls, work.total_ns, work.min_ns, work.max_ns, work.bytes});
    add_text(text, work.name);
    text += '\n';
  }
  for (const NvtxRange& range : recording.ranges) {
    add_line(text, "range", {range.parent + 1, range.entered});
    add_text(text, range.name);
    text += '\n';
    for (const RangeWork& work : range.work) {
      add_line(text, "within", {static_cast<std::int64_t>(work.work), work.calls, work.total_ns});
      text += '\n';
    }
  }
  for (const DeviceBusy& busy : recording.devices) {
    add_line(text, "device", {busy.device, busy.first_ns, busy.last_ns, busy.busy_ns, busy.late, busy.longest_gap_ns});
    for (const Gaps& gaps : busy.gaps) {
      add_line(text, "", {gaps.count, gaps.ns});
    }
    text += '\n';
  }
  const auto lines = std::count(text.begin(), text.end(), '\n');
  add_line(text, "end", {lines});
  text += '\n';
  return text;
}

ProcessRecording decode_recording(std::string_view text) {
  ProcessRecording recording;
  Sums sums;
  std::int64_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    try {
      if (end == std::string_view::npos) {
        throw UserError("the line does not end");
      }
      text.remove_prefix(end + 1);
      if (line.starts_with("end\t")) {
        Fields fields(line.substr(4));
        if (fields.number(kMostCount) != lines || !text.empty()) {
          throw UserError("the number of lines is another one");
        }
        return recording;
      }
      if (lines == 0 && line != kHeader) {
        throw UserError("it does not start with 'apo-recording 1'");
      }
      if (lines > 0) {
        read_line(line, recording, sums);
      }
    } catch (const UserError& error) {
      throw UserError("no recording of a process: line " + std::to_string(lines + 1) + ": " + error.what());
    }
    ++lines;
  }
  throw UserError("no recording of a process: it ends after line " + std::to_string(lines) + " without 'end'");
}

}  // namespace apo
