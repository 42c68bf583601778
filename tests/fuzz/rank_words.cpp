// The bytes of a rank's peers: the handshake on either side, then the store's requests and replies.
#include "engine/transport/handshake.h"
#include "engine/transport/sealed.h"
#include "engine/transport/store_values.h"
#include "tests/fuzz/input.h"

using namespace heddle;
using namespace heddle::transport;

namespace {

void hear(Result<Handshake> handshake, std::span<const uint8_t> bytes) {
  while (handshake->awaits() > 0 && bytes.size() >= handshake->awaits()) {
    const size_t next = handshake->awaits();
    if (!handshake->take(bytes.first(next))) return;
    bytes = bytes.subspan(next);
  }
  if (handshake->done()) std::abort();  // nobody proves a secret by chance
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> input(data, size);
  static const Credentials credentials{Secret::make().value(), "run 0"};
  const Address at;
  hear(Handshake::answering(credentials, "store", 0, at), input);
  hear(Handshake::calling(credentials, {"store", 1, 0, 0}, at), input);
  // An answerer of this run hears a caller that begins well.
  auto answering = Handshake::answering(credentials, "store", 0, at);
  (void)answering->take(Handshake::calling(credentials, {"store", 1, 0, 0}, at)->hello());
  hear(std::move(answering), input);

  // Bytes in place of a record.
  if (size > record_bytes(0)) {
    Seal opens(Key{}, Seal::Side::opens);
    std::vector<uint8_t> text(size - record_bytes(0));
    const iovec place{text.data(), text.size()};
    (void)text_bytes(input);
    if (opens.open(input, {&place, 1})) std::abort();
  }

  StoreValues values;
  for (std::span<const uint8_t> rest = input; rest.size() >= kLengthBytes;) {
    const auto length = frame_length(rest);
    if (!length || *length > rest.size() - kLengthBytes) break;
    const auto body = rest.subspan(kLengthBytes, *length);
    if (const auto request = request_from(body)) (void)values.answer(*request);
    if (const auto reply = reply_from(body)) (void)number_from(reply->value);
    rest = rest.subspan(kLengthBytes + *length);
  }
  return 0;
}
