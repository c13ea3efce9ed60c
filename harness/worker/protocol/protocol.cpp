// harness/worker/protocol/protocol.cpp - encodes messages as JSON, and sends them with at most one file descriptor.
#include "harness/worker/protocol/protocol.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "harness/core/json/codec.h"

namespace apo {

std::string encode(const Request& request) {
  return json_text(request) + "\n";
}

std::string encode(const Reply& reply) {
  return json_text(reply) + "\n";
}

Request decode_request(std::string_view line) {
  return from_json_text<Request>(line);
}

std::optional<Reply> decode_reply(std::string_view line) {
  try {
    auto document = json_of(Reply{});
    document.erase("nonce");
    document.update(nlohmann::ordered_json::parse(line));  // all but the nonce may be left out
    Reply reply;
    read_json(document, reply);
    if (reply.failure && reply.failure->outcome == Outcome::valid) {
      return std::nullopt;
    }
    return reply;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller names the outcome
  }
}

namespace {

// Room for the control message of one descriptor, aligned as the headers in it need.
struct alignas(cmsghdr) ControlBuffer {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

FileDescriptor take_descriptor(msghdr& message) {
  FileDescriptor taken;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      taken = FileDescriptor(fd);
    }
  }
  return taken;
}

}  // namespace

bool send_message(int fd, std::string_view line, int attached_fd) {
  iovec part{.iov_base = const_cast<char*>(line.data()), .iov_len = line.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (attached_fd >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &attached_fd, sizeof attached_fd);
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(line.size());
}

Received receive_message(int fd, std::size_t limit, bool wait) {
  Received received;
  received.text.resize(limit);
  iovec part{.iov_base = received.text.data(), .iov_len = received.text.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = -1;
  do {
    got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (got < 0 && errno == EINTR);
  received.text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got > 0) {
    received.attached = take_descriptor(message);
    received.receipt = (message.msg_flags & MSG_TRUNC) != 0 ? Receipt::too_long : Receipt::message;
  } else {
    received.receipt = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Receipt::empty : Receipt::closed;
  }
  return received;
}

}  // namespace apo
