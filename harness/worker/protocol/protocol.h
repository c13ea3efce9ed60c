// harness/worker/protocol/protocol.h - what parent and worker say to each other: JSON lines with a nonce.
//
// The connection is a SOCK_SEQPACKET socketpair, fd 3 of the worker. The parent asks; each request has one reply, which
// repeats its nonce. A run that pauses replies for each pause and goes on after `continue`.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/conditions.h"
#include "harness/core/records/device_facts.h"
#include "harness/core/system/files.h"
#include "harness/worker/protocol/result.h"
#include "harness/worker/protocol/shared_tensors.h"
#include "kernels/family.h"

namespace apo {

inline constexpr int kWorkerFd = 3;
inline constexpr std::size_t kMaxRequest = 128 * 1024;
inline constexpr std::size_t kMaxReply = 64 * 1024;
// Address space on both sides of the shared tensors that the worker keeps empty: a write far outside a buffer faults
// there.
inline constexpr std::uint64_t kTensorsReserve = std::uint64_t{64} << 20;
// Set in the environment of a worker that another program started and watches.
inline constexpr const char* kWatchedVariable = "APO_WATCHED";
inline constexpr int kExitConnectionLost = 71;  // the worker could not reply: a candidate closed its connection

// Target cuda: copies of the tensors that the launches of a sample may take in turn.
inline constexpr int kMostImages = 64;

// Calls of the loaded slots, one sample after the other. When cold, the worker evicts every buffer of the call from the
// caches before each sample, untimed. On target cuda it also poisons outputs and scratch, which the parent does of host
// code, and the launches of a cold sample with more than one work in turn on copies of the tensors that together
// exceed the L2 cache twice.
struct RunRequest {
  std::vector<int> order = {0};  // the slot of each sample
  std::vector<int> sets;         // the input set of each sample; empty = set 0 for all
  int repetitions = 1;           // launches in one sample, back to back; kMostImages at most if they update in place
  CachePolicy cache = CachePolicy::warm;
  bool keep_state = false;  // variables of a device variant's module stay as the sample before left them
  int verify_after = -1;    // pause after this sample, so that the parent can look at the outputs; -1 = never
  // Target cuda: copies the tensors back into the shared tensors after the last sample too, not only at the pause.
  bool read_back = false;
  // Target cuda: reads the inputs of this set from the shared tensors again right before the last sample, because the
  // parent has written new ones that no call may see earlier. -1: none.
  int refresh_set = -1;
  KeptInputs refresh_from;  // where they are, when the shared tensors do not have them
  // Target cuda: records each sample with CUPTI Activity too, for a profile. Its launches cost about 1 us more.
  bool activity = false;
  bool operator==(const RunRequest&) const = default;
};
APO_FIELDS(RunRequest, order, sets, repetitions, cache, keep_state, verify_after, read_back, refresh_set, refresh_from,
           activity)

// Raw stamps of one sample; the parent does all arithmetic. Host code is judged by windows, whose times the parent
// takes itself (Worker::run_window): these are for `apo bench` and `apo profile`.
struct RawSample {
  int slot = 0;
  int set = 0;
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC_RAW, which parent and worker share
  std::int64_t end_ns = 0;
  std::int64_t device_ns = 0;  // target cuda: between the events around the launches; the host's clock sees more
  // Target cuda, on request: the time from the begin of the first kernel, copy or fill to the end of the last one, over
  // all streams, and the number of kernels. 0 where Reply::activity_missing says why.
  std::int64_t activity_ns = 0;
  std::int64_t activity_kernels = 0;
  bool operator==(const RawSample&) const = default;
};
APO_FIELDS(RawSample, slot, set, begin_ns, end_ns, device_ns, activity_ns, activity_kernels)
template <>
inline constexpr bool kIsRow<RawSample> = true;

// The state of a GPU right after a run.
struct DeviceState {
  int sm_mhz = 0;
  std::uint64_t throttle_bits = 0;  // nvmlClocksEventReason*
  int celsius = 0;
  int watts = 0;
  bool operator==(const DeviceState&) const = default;
};
APO_FIELDS(DeviceState, sm_mhz, throttle_bits, celsius, watts)

struct HelloRequest {     // carries the memory file of SharedStatus
  std::vector<int> cpus;  // to pin to; empty = as inherited
  int threads = 1;
  Target target = Target::host;
  int device = 0;                       // target cuda: which GPU
  bool executor = false;                // target host: device variants, under the checks of harness/executor
  std::uint64_t seed = 0;               // executor: of the order in which threads run
  std::vector<std::string> guards_off;  // of an experiment about the judge: core/guards.h
  std::string room;                     // the folder with all files that host code may open; empty: it may read any
  bool name_refused = false;            // leave in SharedStatus which call was refused last
  bool operator==(const HelloRequest&) const = default;
};
APO_FIELDS(HelloRequest, cpus, threads, target, device, executor, seed, guards_off, room, name_refused)
struct LoadRequest {
  int slot = 0;
  std::string path;  // "" keeps what is loaded, with its variables: only its launches change
  LaunchPlan plan;   // of a device variant
  bool operator==(const LoadRequest&) const = default;
};
APO_FIELDS(LoadRequest, slot, path, plan)
struct AttachRequest {  // carries the shared tensors' memory file
  SharedTensorsLayout layout;
  bool operator==(const AttachRequest&) const = default;
};
APO_FIELDS(AttachRequest, layout)
// Target cuda: copies the memory file that it carries to the GPU and keeps it there as long as this process lives.
struct KeepRequest {
  std::int64_t bytes = 0;
  bool operator==(const KeepRequest&) const = default;
};
APO_FIELDS(KeepRequest, bytes)
struct ContinueRequest {
  bool operator==(const ContinueRequest&) const = default;
};
// Target cuda: times copies within the GPU's memory, whose best rate is a roof.
struct CopyRequest {
  std::int64_t bytes = 0;  // read; as many are written
  int samples = 1;
  bool operator==(const CopyRequest&) const = default;
};
APO_FIELDS(CopyRequest, bytes, samples)

// Target cuda, untimed: collects hardware counters of every launch of a call. It carries a memory file, into which the
// worker writes the CounterReport, because that may exceed a message.
struct CountRequest {
  int slot = 0;
  std::vector<std::string> metrics;
  CachePolicy cache = CachePolicy::cold;
  bool read_back = false;  // bring the tensors back into the shared tensors, as the last launch left them
  bool operator==(const CountRequest&) const = default;
};
APO_FIELDS(CountRequest, slot, metrics, cache, read_back)
// The same for a SampleReport: samples the warps' instructions and states every 2^period_log2 cycles of each SM.
struct SampleRequest {
  int slot = 0;
  int repetitions = 1;
  CachePolicy cache = CachePolicy::cold;
  int period_log2 = 10;
  bool operator==(const SampleRequest&) const = default;
};
APO_FIELDS(SampleRequest, slot, repetitions, cache, period_log2)
// Target cuda: watches which modules the driver loads from here on, or what calls put on the GPU.
struct WatchRequest {
  bool calls = false;
  bool operator==(const WatchRequest&) const = default;
};
APO_FIELDS(WatchRequest, calls)
// Asks what a call of the library in the slot puts on the GPU. It carries a memory file, which takes the RecordedCall.
struct RecordRequest {
  int slot = 0;
  bool operator==(const RecordRequest&) const = default;
};
APO_FIELDS(RecordRequest, slot)
// Asks for the images loaded for a slot. It carries a memory file, which takes them.
struct ImagesRequest {
  int slot = 0;
  bool operator==(const ImagesRequest&) const = default;
};
APO_FIELDS(ImagesRequest, slot)

// The same for an InstructionReport: counts the executions of each instruction of one call. With a kernel's name it
// counts only that kernel, because CUPTI does not count all kernels of a call in every process.
struct InstructionRequest {
  int slot = 0;
  std::string kernel;
  bool operator==(const InstructionRequest&) const = default;
};
APO_FIELDS(InstructionRequest, slot, kernel)

struct Request {
  std::string nonce;
  std::variant<HelloRequest, LoadRequest, AttachRequest, KeepRequest, RunRequest, ContinueRequest, CopyRequest,
               CountRequest, SampleRequest, WatchRequest, RecordRequest, ImagesRequest, InstructionRequest>
      body;
  bool operator==(const Request&) const = default;
};
APO_FIELDS(Request, nonce, body)

struct Reply {
  std::string nonce;
  std::optional<Failure> failure;
  std::vector<RawSample> samples;     // run: those taken so far
  bool paused = false;                // run: waits for `continue`
  std::uint64_t base = 0;             // attach: where the shared tensors lies in the worker
  std::string kept;                   // keep: the handle
  bool inputs_unchanged = false;      // run that read back: the GPU has compared the inputs with those that are kept
  std::string confinement;            // load: what holds the candidate, e.g. "seccomp+landlock"
  std::optional<DeviceFacts> device;  // hello, target cuda
  std::optional<DeviceState> state;   // run, target cuda with NVML
  std::vector<std::int64_t> copy_ns;  // copy: each sample
  std::string activity_missing;       // run with `activity`: why nothing was recorded; empty when it was
  std::string watch_missing;          // watch: why nothing can be watched; empty when it is
  bool operator==(const Reply&) const = default;
};
APO_FIELDS(Reply, nonce, failure, samples, paused, base, kept, inputs_unchanged, confinement, device, state, copy_ns,
           activity_missing, watch_missing)

// The traces of a worker that died, in shared memory: it writes them before each call and in its signal handler.
struct SharedStatus {
  std::atomic<std::int32_t> running_slot{-1};
  std::atomic<std::int32_t> signal{0};
  std::atomic<std::uint64_t> address{0};  // that the signal was about
  std::atomic<std::int32_t> stack_overflow{0};
  std::atomic<std::int32_t> forbidden_call{-1};  // number of the system call that the confinement refused
  std::atomic<std::int64_t> data_bytes{0};       // at the signal
  std::atomic<std::int32_t> refused_call{-1};    // number of the last one, where HelloRequest::name_refused is set
  std::array<char, 256> refused_path{};          // that it was about; empty: none
  std::atomic<std::int64_t> ready_ns{0};         // CLOCK_MONOTONIC_RAW, when it could answer for the first time
};

std::string encode(const Request& request);
std::string encode(const Reply& reply);
// Throws BadField: a request comes from this program, so a bad one is our bug.
Request decode_request(std::string_view line);
// Returns nullopt for a malformed reply, because the worker's memory also belongs to the candidate.
std::optional<Reply> decode_reply(std::string_view line);

enum class Receipt : std::uint8_t { message, empty, closed, too_long };
struct Received {
  Receipt receipt = Receipt::empty;
  std::string text;
  FileDescriptor attached;
};

// The messages round a window of target host, short because they are in its time: one call of slot 0 for each copy of
// the attached tensors. A Failure is answered as a Reply instead.
inline constexpr std::string_view kWindowBegin = "go";
inline constexpr std::string_view kWindowEnd = "done";

// Returns false when the other side is gone or does not take it.
bool send_message(int fd, std::string_view line, int attached_fd = -1);
// With wait = false it returns `empty` when there is no message.
Received receive_message(int fd, std::size_t limit, bool wait);

}  // namespace apo
