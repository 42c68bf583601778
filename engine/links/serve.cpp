#include "engine/links/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/say.h"
#include "engine/links/measure.h"
#include "engine/runs/rendezvous.h"
#include "engine/transport/door.h"

namespace heddle::links {
namespace {

using std::chrono::milliseconds;

/// The address of this host by which packets leave for another one. Sends none.
Result<std::string> address_toward(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), "9", &hints, &found); error != 0)
    return fail("{}: {}", host, gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  std::string why = "no address";
  for (const addrinfo* each = found; each; each = each->ai_next) {
    const Socket socket(::socket(each->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.fd() >= 0 && connect(socket.fd(), each->ai_addr, each->ai_addrlen) == 0)
      return ip_text(own_address(socket));
    why = strerror(errno);
  }
  return fail("{}: {}", host, why);
}

/// Serves one caller until it has what it wants.
Result<> serve_guest(transport::Channel& channel) {
  for (;;) {
    const Result<Request> request = receive_request(channel);
    if (!request) return fail(request);
    Result<> done;
    switch (request->want) {
      case Request::Want::end:
        return {};
      case Request::Want::echo:
        done = give_bytes(channel, 1);
        break;
      case Request::Want::take:
        done = take_bytes(channel, request->bytes);
        if (done) done = give_bytes(channel, 1);
        break;
      case Request::Want::give:
        done = give_bytes(channel, request->bytes);
        break;
    }
    if (!done) return done;
  }
}

/// Until all guests have been, or none has come for too long.
void serve_all(transport::Door door, const ServeOptions& options) {
  using Clock = transport::Door::Clock;
  auto end = Clock::now() + options.patience;
  for (int guests = 0; guests < options.guests && Clock::now() < end;) {
    pollfd ready{door.fd(), POLLIN, 0};
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    poll(&ready, 1, static_cast<int>(std::min(left, door.patience()).count()));
    auto come = door.step();
    if (!come) return;
    for (transport::Guest& guest : *come) {
      (void)serve_guest(guest.channel);  // the caller says what has failed
      ++guests;
      end = Clock::now() + options.patience;
    }
  }
}

int complain(const std::string& message) {
  say(stderr, "{}\n", message);
  return 1;
}

/// Nothing of this process keeps a connection or a folder busy.
bool leave() {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  return nowhere >= 0 && dup2(nowhere, 0) >= 0 && dup2(nowhere, 1) >= 0 && dup2(nowhere, 2) >= 0 &&
         chdir("/") == 0;
}

}  // namespace

int serve(const ServeOptions& options) {
  const Result<Secret> secret = receive_secret(STDIN_FILENO);
  if (!secret) return complain(secret.error().message);
  const Result<std::string> own =
      options.host == 0 ? Result<std::string>(options.toward) : address_toward(options.toward);
  if (!own) return complain(own.error().message);
  auto listener = listen_on(*own, 0);
  if (!listener) return complain(listener.error().message);
  const Result<> reach = runs::check_reach(own_address(*listener), options.public_addresses);
  if (!reach) return complain(reach.error().message);
  const uint16_t port = listener->port();
  auto door =
      transport::Door::open(std::move(*listener), credentials_with(*secret), kTopic, options.host);
  if (!door) return complain(door.error().message);
  const pid_t child = fork();
  if (child < 0) return complain(fmt::format("fork: {}", strerror(errno)));
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    if (leave()) serve_all(std::move(*door), options);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  say("{}\n", json_text(nlohmann::json{{"address", *own}, {"port", port}}));
  return 0;
}

}  // namespace heddle::links
