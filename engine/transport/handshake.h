// The first words between two ranks that meet over TCP: each proves that it knows the run's secret
// before anything else of the other is read. Bytes in, bytes out: no socket here.
//
//   caller → answerer   hello: magic, topic, who calls whom and what for, a nonce
//   answerer → caller   a nonce, and the proof "answer"
//   caller → answerer   the proof "call"
//   answerer → caller   the proof "welcome": the caller is in
//
// A proof is HMAC-SHA256 of the secret over its word and all that both know by then: the hello, the
// answerer's nonce, and the address at which it was reached. So it is of this run, these ranks,
// this connection, and no other; who passes words on from another address is found out. All sizes
// are fixed. The hello also says whether what follows is to be sealed (sealed.h): where the
// answerer wants it otherwise its proof is "unlike", so that the caller can believe that and say
// so.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/secret.h"
#include "engine/transport/sealed.h"

namespace heddle::transport {

/// The proof that a process is one of a run's ranks.
struct Credentials {
  Secret secret;
  std::string run;       // name and attempt: a proof for one run is none for another
  bool encrypt = false;  // whether they seal what they say over TCP, once they know each other
};

/// A connection's purpose.
struct Contact {
  std::string topic;  // of all connections to one listener
  int caller = 0;
  int answerer = 0;
  int lane = 0;  // which of several between the two
};

class Handshake {
 public:
  using Bytes = std::vector<uint8_t>;

  /// The side that connects to `at`. The first bytes to send are hello().
  static Result<Handshake> calling(const Credentials& credentials, const Contact& contact,
                                   const Address& at);
  /// The side that listens and was reached at `at`; whom it speaks with, it learns.
  static Result<Handshake> answering(const Credentials& credentials, const std::string& topic,
                                     int answerer, const Address& at);

  Bytes hello() const;

  /// How many bytes come next; 0: the handshake is complete.
  size_t awaits() const;
  /// Takes those bytes. Gives what is to be sent then, or why the other is no rank of the run.
  Result<Bytes> take(std::span<const uint8_t> bytes);
  bool done() const { return state_ == State::done; }

  /// The rank that called; once it has been proven.
  int caller() const;
  int lane() const;

  /// The keys that this side seals and opens with; none where the ranks talk in clear, or before
  /// the end.
  const std::optional<Keys>& keys() const { return keys_; }

 private:
  enum class State { hello, answer, call, welcome, done, unlike };
  using Digest = std::array<uint8_t, 32>;
  static constexpr size_t kHelloBytes = 8 + 32 + 3 * 4 + 32;
  static constexpr size_t kNonceBytes = 32;
  static constexpr size_t kAddressBytes = 18;
  static constexpr size_t kKnownBytes = kHelloBytes + kNonceBytes + kAddressBytes;
  using Text = std::array<uint8_t, 8 + kKnownBytes>;

  Handshake(const Credentials& credentials, State state, const Address& at);
  Text with_known(std::string_view word) const;
  Digest proof(std::string_view word) const;
  bool proven(std::string_view word, std::span<const uint8_t> said) const;
  Result<Bytes> take_hello(std::span<const uint8_t> bytes);
  Result<Bytes> take_answer(std::span<const uint8_t> bytes);
  Result<> finish();
  Result<Key> key_of(std::string_view direction) const;

  Secret secret_;
  State state_;
  /// The bytes that both sides know: hello, nonce, address.
  std::array<uint8_t, kKnownBytes> known_{};
  Bytes expected_;  // answering: what the hello must begin with, up to the caller
  bool encrypt_, calls_;
  std::optional<Keys> keys_;
};

}  // namespace heddle::transport
