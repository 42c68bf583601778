#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <sstream>

namespace heddle {
namespace {

constexpr const char* kHere = "127.0.0.1";

// This thread moves to a new network whose loopback is up; -1: it may not.
int new_network() {
  if (unshare(CLONE_NEWNET) != 0) return -1;
  const Socket any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq loopback{};
  strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(any.fd(), SIOCSIFFLAGS, &loopback) != 0) return -1;
  return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

}  // namespace

Relay::Relay() {
  thread_ = std::thread([this] { run(); });
  while (!ready_) std::this_thread::yield();
}

Relay::~Relay() {
  stop_ = true;
  thread_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [second, first] : sockets_) {
      shutdown(second.fd(), SHUT_RDWR);
      shutdown(first.fd(), SHUT_RDWR);
    }
  }
  for (std::thread& each : passing_) each.join();
  for (const int fd : {first_, second_, table_})
    if (fd >= 0) close(fd);
}

void Relay::change(size_t connection, size_t byte) {
  const std::lock_guard lock(mutex_);
  changed_connection_ = connection;
  changed_byte_ = byte;
}

std::vector<std::string> Relay::heard() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& way : ways_) all.push_back(way->heard);
  return all;
}

void Relay::run() {
  first_ = new_network();
  table_ = first_ < 0 ? -1 : open("/proc/thread-self/net/tcp", O_RDONLY | O_CLOEXEC);
  second_ = table_ < 0 ? -1 : new_network();
  if (second_ < 0) refusal_ = std::string("no network namespaces here: ") + strerror(errno);
  ready_ = true;
  while (!stop_ && second_ >= 0) {
    {
      const std::lock_guard lock(mutex_);
      follow_listeners();
    }
    accept_all();
  }
}

void Relay::follow_listeners() {
  std::string text;
  lseek(table_, 0, SEEK_SET);
  char part[4096];
  for (ssize_t got = 0; (got = read(table_, part, sizeof(part))) > 0;) text.append(part, got);
  std::istringstream lines(text);
  std::string number, local, remote, state;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream(line) >> number >> local >> remote >> state;
    if (state != "0A") continue;
    const auto port =
        static_cast<uint16_t>(std::stoi(local.substr(local.find(':') + 1), nullptr, 16));
    if (listeners_.contains(port)) continue;
    if (auto listener = listen_on(kHere, port)) listeners_.emplace(port, std::move(*listener));
  }
}

void Relay::accept_all() {
  std::vector<pollfd> polled;
  std::vector<uint16_t> ports;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [port, listener] : listeners_) {
      polled.push_back({listener.fd(), POLLIN, 0});
      ports.push_back(port);
    }
  }
  poll(polled.data(), polled.size(), 50);
  for (size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    Socket caller(accept4(polled[i].fd, nullptr, nullptr, SOCK_CLOEXEC));
    setns(first_, CLONE_NEWNET);
    auto answerer = connect_to(kHere, ports[i], std::chrono::seconds(5));
    setns(second_, CLONE_NEWNET);
    const std::lock_guard lock(mutex_);
    if (!answerer) {  // nobody listens there any more
      listeners_.erase(ports[i]);
      continue;
    }
    const bool changed = changed_connection_ == sockets_.size();
    const bool tells = sockets_.empty();  // the store
    ways_.push_back(std::make_unique<Way>(Way{answerer->fd(), caller.fd(), {}}));
    if (changed) ways_.back()->changed_byte = changed_byte_;
    passing_.emplace_back([this, tells, way = ways_.back().get()] { pass(*way, tells); });
    ways_.push_back(std::make_unique<Way>(Way{caller.fd(), answerer->fd(), {}}));
    passing_.emplace_back([this, way = ways_.back().get()] { pass(*way, false); });
    sockets_.emplace_back(std::move(caller), std::move(*answerer));
  }
}

void Relay::pass(Way& way, bool tells) {
  std::vector<char> part(1 << 16);
  size_t before = 0;
  for (ssize_t got = 0; (got = recv(way.from, part.data(), part.size(), 0)) > 0;
       before += size_t(got)) {
    {
      const std::lock_guard lock(mutex_);
      // A rank that hears of a listener must find it.
      if (tells) follow_listeners();
      way.heard.append(part.data(), size_t(got));
    }
    if (way.changed_byte >= before && way.changed_byte < before + size_t(got))
      part[way.changed_byte - before] ^= 1;
    for (ssize_t done = 0, sent = 0; done < got; done += sent)
      if ((sent = send(way.to, part.data() + done, size_t(got - done), MSG_NOSIGNAL)) <= 0) break;
  }
  shutdown(way.to, SHUT_WR);
}

}  // namespace heddle
