// harness/mcp/serving/server_loop.cpp - one thread waits for the client, the commands and the clock.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "harness/core/system/subprocess.h"
#include "harness/mcp/serving/server.h"

namespace apo::mcp {
namespace {

constexpr std::size_t kMostUnsent = std::size_t{4} << 20;  // a client that reads nothing is not read either
constexpr std::size_t kOneWrite = 4096;                    // after POLLOUT this much never waits (PIPE_BUF)
constexpr auto kLongestSleep = std::chrono::seconds(1);    // a parent that vanished is seen then
constexpr auto kFarewell = std::chrono::milliseconds(300);

bool is_ready(int descriptor, short events) {
  pollfd one{descriptor, events, 0};
  return poll(&one, 1, 0) > 0 && (one.revents & events) != 0;
}

}  // namespace

void Server::run() {
  while (wait_for_events()) {
    jobs_.deliver();
    move_commands();
    look_at_clock();
    write_output();
  }
  works_.clear();  // kills what runs
  finish_output();
  if (!jobs_.is_idle()) {
    std::_Exit(0);  // the journal is locked by another process, and the client does not wait for that
  }
}

// False when the client is gone. Handles what it sent.
bool Server::wait_for_events() {
  const bool reads = unsent() < kMostUnsent;
  std::vector<pollfd> descriptors = {{options_.in, static_cast<short>(reads ? POLLIN : 0), 0},
                                     {options_.out, static_cast<short>(unsent() > 0 ? POLLOUT : 0), 0},
                                     {jobs_.wake_descriptor(), POLLIN, 0}};
  for (Work& work : works_) {
    if (work.command) {
      work.command->watch(descriptors);
    }
  }
  const auto sleep = std::chrono::ceil<std::chrono::milliseconds>(next_time() - Clock::now()).count();
  if (poll(descriptors.data(), descriptors.size(), static_cast<int>(std::max<long>(0, sleep))) < 0) {
    return errno == EINTR;
  }
  if ((descriptors[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 || getppid() != parent_) {
    return false;
  }
  if ((descriptors[0].revents & POLLIN) != 0) {
    return read_input();
  }
  return (descriptors[0].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

// False at the end of the input.
bool Server::read_input() {
  static std::array<char, 65536> buffer;
  const ssize_t got = read(options_.in, buffer.data(), buffer.size());
  if (got <= 0) {
    return got < 0 && (errno == EINTR || errno == EAGAIN);
  }
  for (const LineReader::Line& line : lines_.feed({buffer.data(), static_cast<std::size_t>(got)})) {
    session_.on_line(line);
  }
  return true;
}

void Server::send(const std::string& line) {
  if (sent_ > kMostUnsent) {
    output_.erase(0, sent_);
    sent_ = 0;
  }
  output_ += line;
  output_ += '\n';
}

void Server::write_output() {
  while (unsent() > 0 && is_ready(options_.out, POLLOUT)) {
    const ssize_t wrote = write_without_sigpipe(options_.out, std::string_view(output_).substr(sent_, kOneWrite));
    if (wrote < 0) {
      return;  // a reader that is gone is seen by the next poll
    }
    sent_ += static_cast<std::size_t>(wrote);
  }
  if (unsent() == 0) {
    output_.clear();
    sent_ = 0;
  }
}

// Sends pending answers to a client that still reads, and ends the rows of jobs that have just ended.
void Server::finish_output() {
  const auto until = Clock::now() + kFarewell;
  for (write_output(); (unsent() > 0 || !jobs_.is_idle()) && Clock::now() < until; write_output()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Server::Clock::duration Server::answer_within() const {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.answer_within_s));
}

// When something is due without an event.
Server::Clock::time_point Server::next_time() const {
  Clock::time_point next = Clock::now() + kLongestSleep;
  for (const Work& work : works_) {
    if (work.caller && work.job != 0) {
      next = std::min(next, work.since + answer_within());
    }
  }
  for (const auto& [call, wait] : waits_) {
    if (wait.next_look) {
      next = std::min(next, *wait.next_look);
    }
    if (work_of_job(wait.job) != nullptr) {
      next = std::min(next, wait.until);
    }
  }
  return next;
}

void Server::move_commands() {
  for (Work& work : works_) {
    if (!work.command) {
      continue;
    }
    for (std::string& line : work.command->move()) {
      work.progress = std::move(line);
      tell_progress(work);
    }
    if (work.command->is_over()) {
      end(work, false);
    }
  }
}

void Server::look_at_clock() {
  const auto now = Clock::now();
  for (Work& work : works_) {
    if (work.caller && work.job != 0 && !work.ended && now - work.since >= answer_within()) {
      session_.answer(*work.caller, running(work));
      work.caller.reset();
    }
  }
  for (auto wait = waits_.begin(); wait != waits_.end();) {
    const auto [call, what] = *wait++;
    if (what.next_look && now >= *what.next_look) {
      waits_.at(call).next_look.reset();
      look_up(call, what.job);
    } else if (const Work* work = work_of_job(what.job); work != nullptr && now >= what.until) {
      waits_.erase(call);
      session_.answer(call, running(*work));
    }
  }
  std::erase_if(works_, [](const Work& work) { return work.ended; });
}

}  // namespace apo::mcp
