// training/settings.cpp - one table of flags.
#include "training/settings.h"

#include <charconv>
#include <cmath>
#include <variant>

#include "data/error.h"

namespace byte_lm {
namespace {

using Target = std::variant<bool*, std::int64_t*, std::uint64_t*, double*, std::string*>;

struct Flag {
  std::string name;
  Target target;
  std::string help;
  double least = 0;                // of numbers
  const char* variable = nullptr;  // of the environment, which wins
};

std::vector<Flag> flags_of(Settings& s) {
  return {
      {"--device", &s.device, "cuda, or host for small models"},
      {"--dim", &s.size.dim, "width of the residual stream, a multiple of 8", 8},
      {"--depth", &s.size.depth, "layers", 1},
      {"--heads", &s.size.heads, "heads a layer", 1},
      {"--state", &s.size.state, "rows and columns of a head's state, a multiple of 8", 8},
      {"--batch", &s.shape.batch, "sequences a step", 1},
      {"--length", &s.shape.length, "bytes a sequence", 1},
      {"--steps", &s.steps, "steps to train, those of a resumed training included", 1, "APO_STEPS"},
      {"--warmup-steps", &s.warmup_steps, "first steps, which the summary's speed leaves out", 0, "APO_WARMUP_STEPS"},
      {"--seconds", &s.seconds, "in place of --steps: no step begins later than this after the program", 0,
       "APO_SECONDS"},
      {"--seed", &s.seed, "of the first weights and of the batches", 0, "APO_SEED"},
      {"--rate", &s.rate, "learning rate", 0},
      {"--rate-steps", &s.rate_steps, "steps over which it rises from 0", 0},
      {"--weight-decay", &s.adam.weight_decay, "of matrices", 0},
      {"--clip", &s.adam.clip, "largest norm of the gradient", 0},
      {"--checkpoint", &s.checkpoint, "file to keep the training in"},
      {"--checkpoint-every", &s.checkpoint_every, "steps; 0: at the end only", 0},
      {"--resume", &s.resume, "go on from --checkpoint"},
      {"--evaluate", &s.evaluate, "batches of held-out text to score at the end; -1: all", -1},
      {"--fused-projection", &s.fused_projection, "one GEMM for q, k, v, gate and alpha"},
      {"--graph", &s.graph, "replay a step as one CUDA graph"},
      {"--check", &s.check, "compare gradients and kernels with fp64 on the host, at a small size"},
      {"--prepare", &s.prepare, "compile the kernels of APO_DISPATCH for these sizes, and end"},
      {"--help", &s.help, "this text"},
  };
}

// The same type of message for flags and variables.
[[noreturn]] void refuse(const std::string& name, const std::string& text, const Flag& flag,
                         const std::string& needed) {
  throw UserError(name + " is '" + text + "', needed " + needed, flag.name + ": " + flag.help);
}

template <class Number>
void set_number(const std::string& name, const std::string& text, const Flag& flag, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(name, text, flag, std::is_floating_point_v<Number> ? "a number" : "a whole number");
  }
  if (!(static_cast<double>(number) >= flag.least) || std::isinf(static_cast<double>(number))) {
    refuse(name, text, flag, "at least " + std::to_string(static_cast<std::int64_t>(flag.least)));
  }
}

void set(const std::string& name, const std::string& text, const Flag& flag) {
  std::visit(
      [&](auto* target) {
        using Type = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Type, bool>) {
          *target = true;
        } else if constexpr (std::is_same_v<Type, std::string>) {
          *target = text;
        } else {
          set_number(name, text, flag, *target);
        }
      },
      flag.target);
}

const Flag& find(const std::vector<Flag>& flags, const std::string& name) {
  for (const Flag& flag : flags) {
    if (flag.name == name) {
      return flag;
    }
  }
  throw UserError("unknown flag '" + name + "'", "--help lists them");
}

void read_flags(const std::vector<std::string>& arguments, const std::vector<Flag>& flags, Settings& settings) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--")) {
      settings.texts.push_back(arguments[i]);
      continue;
    }
    const Flag& flag = find(flags, arguments[i]);
    if (std::holds_alternative<bool*>(flag.target)) {
      set(flag.name, "", flag);
    } else if (++i == arguments.size()) {
      throw UserError(flag.name + " needs a value", flag.name + ": " + flag.help);
    } else {
      set(flag.name, arguments[i], flag);
    }
  }
}

// What no flag can say alone.
void refuse_contradictions(const Settings& s) {
  if (s.device != "cuda" && s.device != "host") {
    throw UserError("--device is '" + s.device + "', needed cuda or host");
  }
  for (const auto& [name, value] : {std::pair{"--dim", s.size.dim}, {"--state", s.size.state}}) {
    if (value % 8 != 0) {
      throw UserError(std::string(name) + " is " + std::to_string(value) + ", needed a multiple of 8",
                      "the kernels read 16 bytes at a time");
    }
  }
  if (s.checkpoint.empty() && (s.resume || s.checkpoint_every > 0)) {
    throw UserError("no checkpoint file", "name one with --checkpoint FILE");
  }
  for (const auto& [name, is_on] : {std::pair{"--graph", s.graph}, {"--check", s.check}, {"--prepare", s.prepare}}) {
    if (is_on && s.device == "host") {
      throw UserError(std::string(name) + " needs --device cuda");
    }
  }
}

}  // namespace

Settings parse_settings(const std::vector<std::string>& arguments,
                        const std::function<const char*(const char*)>& environment) {
  Settings settings;
  const std::vector<Flag> flags = flags_of(settings);
  read_flags(arguments, flags, settings);
  for (const Flag& flag : flags) {
    const char* text = flag.variable == nullptr ? nullptr : environment(flag.variable);
    if (text != nullptr && *text != '\0') {
      set(flag.variable, text, flag);
    }
  }
  refuse_contradictions(settings);
  return settings;
}

std::string help_text() {
  Settings defaults;
  std::string text =
      "e88_lm [FLAGS] [TEXT...] - trains a byte-level language model of E88 layers and prints one JSON line a step\n\n"
      "TEXT: files or folders; by default the text and source of the repository that this program came from.\n"
      "APO_DISPATCH names the folder of the E88 kernels that 'apo export --dispatch --with-sources' wrote.\n\n";
  for (const Flag& flag : flags_of(defaults)) {
    const std::string name = flag.name + std::string(std::holds_alternative<bool*>(flag.target) ? "" : " VALUE");
    text += "  " + name + std::string(name.size() < 26 ? 26 - name.size() : 1, ' ') + flag.help +
            (flag.variable == nullptr ? "" : std::string(" (") + flag.variable + " wins)") + "\n";
  }
  return text;
}

}  // namespace byte_lm
