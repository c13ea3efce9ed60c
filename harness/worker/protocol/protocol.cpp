// harness/worker/protocol/protocol.cpp - encodes requests and replies as JSON.
#include "harness/worker/protocol/protocol.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace apo {
namespace {

using Json = nlohmann::json;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// Text from a candidate may hold anything: what is not UTF-8 is replaced, never thrown about.
std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json to_json(const KeptInputs& kept) {
  return {kept.handle, kept.offsets};
}

KeptInputs kept_from(const Json& json) {
  return {.handle = json.at(0), .offsets = json.at(1)};
}

Json to_json(const SharedTensorsLayout& layout) {
  Json buffers = Json::array();
  for (const BufferPlace& place : layout.buffers) {
    buffers.push_back({static_cast<int>(place.role), place.owner, place.offset, place.bytes, place.poison});
  }
  Json kept = Json::array();
  for (const KeptInputs& set : layout.kept) {
    kept.push_back(to_json(set));
  }
  return {{"bytes", layout.bytes},   {"buffers", buffers},      {"words", layout.words},  {"kept", kept},
          {"fenced", layout.fenced}, {"copies", layout.copies}, {"stride", layout.stride}};
}

SharedTensorsLayout layout_from(const Json& json) {
  SharedTensorsLayout layout{.bytes = json.at("bytes"),
                             .words = json.at("words"),
                             .fenced = json.at("fenced"),
                             .copies = json.at("copies"),
                             .stride = json.at("stride")};
  for (const Json& place : json.at("buffers")) {
    layout.buffers.push_back({.role = static_cast<BufferRole>(place.at(0).get<int>()),
                              .owner = place.at(1),
                              .offset = place.at(2),
                              .bytes = place.at(3),
                              .poison = place.at(4)});
  }
  for (const Json& set : json.at("kept")) {
    layout.kept.push_back(kept_from(set));
  }
  return layout;
}

Json to_json(const RawSample& sample) {
  return {sample.slot,      sample.set,         sample.begin_ns,        sample.end_ns,
          sample.device_ns, sample.activity_ns, sample.activity_kernels};
}

RawSample sample_from(const Json& json) {
  return {.slot = json.at(0),
          .set = json.at(1),
          .begin_ns = json.at(2),
          .end_ns = json.at(3),
          .device_ns = json.at(4),
          .activity_ns = json.at(5),
          .activity_kernels = json.at(6)};
}

Json to_json(const LaunchPlan& plan) {
  Json launches = Json::array();
  for (const KernelLaunch& launch : plan.launches) {
    launches.push_back({{"kernel", launch.kernel},
                        {"grid", launch.grid},
                        {"block", launch.block},
                        {"cluster", launch.cluster},
                        {"shared", launch.shared_bytes},
                        {"cooperative", launch.cooperative},
                        {"persist", launch.persist},
                        {"words", launch.words}});
  }
  return {{"launches", launches}, {"keeps_state", plan.keeps_state}, {"library", plan.library}};
}

LaunchPlan plan_from(const Json& json) {
  LaunchPlan plan{.keeps_state = json.at("keeps_state"), .library = json.at("library")};
  for (const Json& launch : json.at("launches")) {
    plan.launches.push_back({.kernel = launch.at("kernel"),
                             .grid = launch.at("grid"),
                             .block = launch.at("block"),
                             .cluster = launch.at("cluster"),
                             .shared_bytes = launch.at("shared"),
                             .cooperative = launch.at("cooperative"),
                             .persist = launch.at("persist"),
                             .words = launch.at("words")});
  }
  return plan;
}

Json to_json(const DeviceFacts& facts) {
  return {{"index", facts.index},
          {"name", facts.name},
          {"uuid", facts.uuid},
          {"major", facts.major},
          {"minor", facts.minor},
          {"sms", facts.sms},
          {"threads_per_block", facts.threads_per_block},
          {"threads_per_sm", facts.threads_per_sm},
          {"blocks_per_sm", facts.blocks_per_sm},
          {"shared_per_block", facts.shared_per_block},
          {"shared_per_sm", facts.shared_per_sm},
          {"registers_per_sm", facts.registers_per_sm},
          {"l2_bytes", facts.l2_bytes},
          {"persisting_l2_bytes", facts.persisting_l2_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"sm_mhz", facts.sm_mhz},
          {"memory_mhz", facts.memory_mhz},
          {"driver", facts.driver}};
}

DeviceFacts facts_from(const Json& json) {
  return {.index = json.at("index"),
          .name = json.at("name"),
          .uuid = json.at("uuid"),
          .major = json.at("major"),
          .minor = json.at("minor"),
          .sms = json.at("sms"),
          .threads_per_block = json.at("threads_per_block"),
          .threads_per_sm = json.at("threads_per_sm"),
          .blocks_per_sm = json.at("blocks_per_sm"),
          .shared_per_block = json.at("shared_per_block"),
          .shared_per_sm = json.at("shared_per_sm"),
          .registers_per_sm = json.at("registers_per_sm"),
          .l2_bytes = json.at("l2_bytes"),
          .persisting_l2_bytes = json.at("persisting_l2_bytes"),
          .memory_bytes = json.at("memory_bytes"),
          .sm_mhz = json.at("sm_mhz"),
          .memory_mhz = json.at("memory_mhz"),
          .driver = json.at("driver")};
}

DeviceState state_from(const Json& json) {
  return {.sm_mhz = json.at(0), .throttle_bits = json.at(1), .celsius = json.at(2), .watts = json.at(3)};
}

CachePolicy cache_from(const Json& json) {
  return json.at("cold").get<bool>() ? CachePolicy::cold : CachePolicy::warm;
}

Failure failure_from(const Json& json) {
  const auto outcome = outcome_from(json.at("outcome").get<std::string>());
  if (!outcome || *outcome == Outcome::valid) {
    throw std::runtime_error("not the outcome of a failure");
  }
  return {
      .outcome = *outcome, .evidence = json.at("evidence"), .slot = json.at("slot"), .of_device = json.at("of_device")};
}

Json body_of(const Request& request) {
  return std::visit(
      Overloaded{
          [](const HelloRequest& hello) -> Json {
            return {{"op", "hello"},
                    {"cpus", hello.cpus},
                    {"threads", hello.threads},
                    {"cuda", hello.target == Target::cuda},
                    {"device", hello.device},
                    {"executor", hello.executor},
                    {"seed", hello.seed},
                    {"guards_off", hello.guards_off}};
          },
          [](const LoadRequest& load) -> Json {
            return {{"op", "load"}, {"slot", load.slot}, {"path", load.path}, {"plan", to_json(load.plan)}};
          },
          [](const AttachRequest& attach) -> Json {
            return {{"op", "attach"}, {"layout", to_json(attach.layout)}};
          },
          [](const KeepRequest& keep) -> Json {
            return {{"op", "keep"}, {"bytes", keep.bytes}};
          },
          [](const RunRequest& run) -> Json {
            return {{"op", "run"},
                    {"order", run.order},
                    {"sets", run.sets},
                    {"repetitions", run.repetitions},
                    {"cold", run.cache == CachePolicy::cold},
                    {"verify_after", run.pause_each ? -1 : run.verify_after},
                    {"pause_each", run.pause_each},
                    {"read_back", run.read_back},
                    {"refresh_set", run.refresh_set},
                    {"refresh_from", to_json(run.refresh_from)},
                    {"activity", run.activity}};
          },
          [](const ContinueRequest& go_on) -> Json {
            return {{"op", "continue"}, {"read_back", go_on.read_back}};
          },
          [](const CopyRequest& copy) -> Json {
            return {{"op", "copy"}, {"bytes", copy.bytes}, {"samples", copy.samples}};
          },
          [](const CountRequest& count) -> Json {
            return {{"op", "count"},
                    {"slot", count.slot},
                    {"metrics", count.metrics},
                    {"read_back", count.read_back},
                    {"cold", count.cache == CachePolicy::cold}};
          },
          [](const SampleRequest& sample) -> Json {
            return {{"op", "sample"},
                    {"slot", sample.slot},
                    {"repetitions", sample.repetitions},
                    {"cold", sample.cache == CachePolicy::cold},
                    {"period", sample.period_log2}};
          },
          [](const WatchRequest&) -> Json {
            return {{"op", "watch"}};
          },
          [](const ImagesRequest& images) -> Json {
            return {{"op", "images"}, {"slot", images.slot}};
          },
          [](const InstructionRequest& instructions) -> Json {
            return {{"op", "instructions"}, {"slot", instructions.slot}, {"kernel", instructions.kernel}};
          },
      },
      request.body);
}

}  // namespace

std::string encode(const Request& request) {
  Json json = body_of(request);
  json["nonce"] = request.nonce;
  return line(json);
}

std::string encode(const Reply& reply) {
  Json json = {{"nonce", reply.nonce}};
  if (reply.failure) {
    json["failure"] = {{"outcome", to_string(reply.failure->outcome)},
                       {"evidence", reply.failure->evidence},
                       {"slot", reply.failure->slot},
                       {"of_device", reply.failure->of_device}};
  }
  if (!reply.samples.empty()) {
    Json& samples = json["samples"] = Json::array();
    for (const RawSample& sample : reply.samples) {
      samples.push_back(to_json(sample));
    }
  }
  if (reply.paused) {
    json["paused"] = true;
  }
  if (reply.base != 0) {
    json["base"] = reply.base;
  }
  if (!reply.kept.empty()) {
    json["kept"] = reply.kept;
  }
  if (reply.inputs_unchanged) {
    json["inputs_unchanged"] = true;
  }
  if (!reply.confinement.empty()) {
    json["confinement"] = reply.confinement;
  }
  if (reply.device) {
    json["device"] = to_json(*reply.device);
  }
  if (!reply.copy_ns.empty()) {
    json["copy_ns"] = reply.copy_ns;
  }
  if (!reply.activity_missing.empty()) {
    json["activity_missing"] = reply.activity_missing;
  }
  if (!reply.watch_missing.empty()) {
    json["watch_missing"] = reply.watch_missing;
  }
  if (reply.state) {
    json["state"] = {reply.state->sm_mhz, reply.state->throttle_bits, reply.state->celsius, reply.state->watts};
  }
  return line(json);
}

Request decode_request(std::string_view text) {
  const Json json = Json::parse(text);
  Request request{.nonce = json.at("nonce"), .body = ContinueRequest{}};
  const std::string op = json.at("op");
  if (op == "hello") {
    request.body = HelloRequest{.cpus = json.at("cpus"),
                                .threads = json.at("threads"),
                                .target = json.at("cuda").get<bool>() ? Target::cuda : Target::host,
                                .device = json.at("device"),
                                .executor = json.at("executor"),
                                .seed = json.at("seed"),
                                .guards_off = json.at("guards_off")};
  } else if (op == "load") {
    request.body = LoadRequest{.slot = json.at("slot"), .path = json.at("path"), .plan = plan_from(json.at("plan"))};
  } else if (op == "attach") {
    request.body = AttachRequest{.layout = layout_from(json.at("layout"))};
  } else if (op == "keep") {
    request.body = KeepRequest{.bytes = json.at("bytes")};
  } else if (op == "run") {
    request.body = RunRequest{.order = json.at("order"),
                              .sets = json.at("sets"),
                              .repetitions = json.at("repetitions"),
                              .cache = cache_from(json),
                              .verify_after = json.at("verify_after"),
                              .pause_each = json.at("pause_each"),
                              .read_back = json.at("read_back"),
                              .refresh_set = json.at("refresh_set"),
                              .refresh_from = kept_from(json.at("refresh_from")),
                              .activity = json.at("activity")};
  } else if (op == "copy") {
    request.body = CopyRequest{.bytes = json.at("bytes"), .samples = json.at("samples")};
  } else if (op == "count") {
    request.body = CountRequest{.slot = json.at("slot"),
                                .metrics = json.at("metrics"),
                                .cache = cache_from(json),
                                .read_back = json.at("read_back")};
  } else if (op == "sample") {
    request.body = SampleRequest{.slot = json.at("slot"),
                                 .repetitions = json.at("repetitions"),
                                 .cache = cache_from(json),
                                 .period_log2 = json.at("period")};
  } else if (op == "watch") {
    request.body = WatchRequest{};
  } else if (op == "images") {
    request.body = ImagesRequest{.slot = json.at("slot")};
  } else if (op == "instructions") {
    request.body = InstructionRequest{.slot = json.at("slot"), .kernel = json.at("kernel")};
  } else if (op == "continue") {
    request.body = ContinueRequest{.read_back = json.at("read_back")};
  } else {
    throw std::runtime_error("unknown request '" + op + "'");
  }
  return request;
}

std::optional<Reply> decode_reply(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    Reply reply{.nonce = json.at("nonce")};
    if (json.contains("failure")) {
      reply.failure = failure_from(json.at("failure"));
    }
    for (const Json& sample : json.value("samples", Json::array())) {
      reply.samples.push_back(sample_from(sample));
    }
    reply.paused = json.value("paused", false);
    reply.base = json.value("base", std::uint64_t{0});
    reply.kept = json.value("kept", "");
    reply.inputs_unchanged = json.value("inputs_unchanged", false);
    reply.confinement = json.value("confinement", "");
    if (json.contains("device")) {
      reply.device = facts_from(json.at("device"));
    }
    reply.copy_ns = json.value("copy_ns", std::vector<std::int64_t>());
    reply.activity_missing = json.value("activity_missing", "");
    reply.watch_missing = json.value("watch_missing", "");
    if (json.contains("state")) {
      reply.state = state_from(json.at("state"));
    }
    return reply;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller names the outcome
  }
}

}  // namespace apo
