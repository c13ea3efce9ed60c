// harness/worker/recorder/stream_order.h - whether all that a call gives the GPU waits for its caller's stream, and
// that for it.
//
// A replay is one operation after the other. A call that leaves out a wait computes right results there, and whatever
// was in memory beside other work of its caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace apo {

// A stream is known by an address, the caller's by null; so are those that the driver itself orders with it. What one
// has waited for is what it knows: of each stream the number of its last operation.
class StreamOrder {
 public:
  using Handle = const void*;

  void begin() { *this = StreamOrder(); }
  // An operation is put on the stream.
  void works(Handle stream);
  void records(Handle event, Handle stream);
  // It is captured into a graph: no work comes before it.
  void forgets(Handle event) { events_.erase(event); }
  void waits(Handle stream, Handle event);
  // The host has waited: for a stream, an event, everything. The last time that it is for everything is who records,
  // behind the call.
  void host_waits_for_stream(Handle stream);
  void host_waits_for_event(Handle event);
  void host_waits_for_all();
  // Which wait the call that has ended left out; "" where there is none. `matters`: whether the caller has to wait for
  // those operations, by their numbers.
  std::string fault(const std::function<bool(const std::vector<std::size_t>& operations)>& matters) const;

 private:
  using Clock = std::map<Handle, std::int64_t>;

  static void learn(Clock& one, const Clock& other);
  Clock& clock(Handle stream);

  std::map<Handle, Clock> streams_ = {{nullptr, {{nullptr, 0}}}};  // the caller's knows its own work before the call
  std::vector<std::pair<Handle, std::int64_t>> operations_;        // stream of each, and its number there
  std::map<Handle, Clock> events_;                                 // of this call
  Clock host_;
  Clock before_all_;  // what the host knew before it last waited for everything
  bool is_early_ = false;
};

}  // namespace apo
