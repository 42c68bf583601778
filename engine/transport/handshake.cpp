#include "engine/transport/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::transport {
namespace {

// The last byte is the version; the one before it says whether what follows is to be sealed.
constexpr std::array<uint8_t, 8> kMagic{'h', 'e', 'd', 'd', 'l', 'e', 0, 1};

// Where in the hello.
constexpr size_t kEncryptAt = 6;
constexpr size_t kTopicAt = kMagic.size();
constexpr size_t kAnswererAt = kTopicAt + 32;
constexpr size_t kCallerAt = kAnswererAt + 4;
constexpr size_t kLaneAt = kCallerAt + 4;
constexpr size_t kNonceAt = kLaneAt + 4;

void put_number(uint8_t* to, uint32_t number) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>(number >> (8 * i));
}

uint32_t number_at(const uint8_t* from) {
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number |= uint32_t{from[i]} << (8 * i);
  return number;
}

// Magic, topic and the rank that is called: the same for every caller of a listener.
std::vector<uint8_t> opening(const Credentials& credentials, const std::string& topic,
                             int answerer) {
  const std::string text = credentials.run + '\n' + topic;
  std::vector<uint8_t> bytes(kCallerAt);
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  bytes[kEncryptAt] = credentials.encrypt;
  SHA256(reinterpret_cast<const uint8_t*>(text.data()), text.size(), bytes.data() + kTopicAt);
  put_number(bytes.data() + kAnswererAt, static_cast<uint32_t>(answerer));
  return bytes;
}

}  // namespace

Handshake::Handshake(const Credentials& credentials, State state, const Address& at)
    : secret_(credentials.secret),
      state_(state),
      encrypt_(credentials.encrypt),
      calls_(state == State::answer) {
  uint8_t* place = known_.data() + kHelloBytes + kNonceBytes;
  std::copy(at.ip.begin(), at.ip.end(), place);
  place[16] = static_cast<uint8_t>(at.port >> 8);
  place[17] = static_cast<uint8_t>(at.port);
}

Result<Handshake> Handshake::calling(const Credentials& credentials, const Contact& contact,
                                     const Address& at) {
  Handshake handshake(credentials, State::answer, at);
  const Bytes begin = opening(credentials, contact.topic, contact.answerer);
  std::copy(begin.begin(), begin.end(), handshake.known_.begin());
  put_number(handshake.known_.data() + kCallerAt, static_cast<uint32_t>(contact.caller));
  put_number(handshake.known_.data() + kLaneAt, static_cast<uint32_t>(contact.lane));
  if (RAND_bytes(handshake.known_.data() + kNonceAt, kNonceBytes) != 1)
    return fail("this machine gives no random numbers");
  return handshake;
}

Result<Handshake> Handshake::answering(const Credentials& credentials, const std::string& topic,
                                       int answerer, const Address& at) {
  Handshake handshake(credentials, State::hello, at);
  handshake.expected_ = opening(credentials, topic, answerer);
  if (RAND_bytes(handshake.known_.data() + kHelloBytes, kNonceBytes) != 1)
    return fail("this machine gives no random numbers");
  return handshake;
}

Handshake::Bytes Handshake::hello() const {
  static_assert(kNonceAt + kNonceBytes == kHelloBytes);
  return {known_.begin(), known_.begin() + kHelloBytes};
}

size_t Handshake::awaits() const {
  switch (state_) {
    case State::hello:
      return kHelloBytes;
    case State::answer:
      return kNonceBytes + sizeof(Digest);
    case State::call:
    case State::welcome:
      return sizeof(Digest);
    case State::done:
    case State::unlike:
      return 0;
  }
  return 0;
}

int Handshake::caller() const { return static_cast<int>(number_at(known_.data() + kCallerAt)); }
int Handshake::lane() const { return static_cast<int>(number_at(known_.data() + kLaneAt)); }

// Words of one length each, so that no word and what follows are another word and its rest.
Handshake::Text Handshake::with_known(std::string_view word) const {
  Text text{};
  std::copy(word.begin(), word.end(), text.begin());
  std::copy(known_.begin(), known_.end(), text.begin() + 8);
  return text;
}

Handshake::Digest Handshake::proof(std::string_view word) const {
  const Text text = with_known(word);
  Digest digest{};
  HMAC(EVP_sha256(), secret_.bytes().data(), Secret::kBytes, text.data(), text.size(),
       digest.data(), nullptr);
  return digest;
}

bool Handshake::proven(std::string_view word, std::span<const uint8_t> said) const {
  const Digest right = proof(word);
  return said.size() == right.size() && CRYPTO_memcmp(said.data(), right.data(), right.size()) == 0;
}

Result<Handshake::Bytes> Handshake::take(std::span<const uint8_t> bytes) {
  if (bytes.size() != awaits()) return fail("a word of the handshake has another length");
  switch (state_) {
    case State::hello:
      return take_hello(bytes);
    case State::answer:
      return take_answer(bytes);
    case State::call: {
      if (!proven("call", bytes)) return fail("the caller does not know this run's secret");
      if (const auto finished = finish(); !finished) return fail(finished);
      const Digest welcome = proof("welcome");
      return Bytes(welcome.begin(), welcome.end());
    }
    case State::welcome:
      if (!proven("welcome", bytes)) return fail("the answer does not know this run's secret");
      if (const auto finished = finish(); !finished) return fail(finished);
      return Bytes{};
    case State::done:
    case State::unlike:
      break;
  }
  return fail("the handshake is over");
}

Result<Handshake::Bytes> Handshake::take_hello(std::span<const uint8_t> bytes) {
  std::copy(bytes.begin(), bytes.end(), known_.begin());
  const bool alike = std::exchange(known_[kEncryptAt], encrypt_) == encrypt_;
  if (!std::equal(expected_.begin(), expected_.end(), known_.begin()))
    return fail("the caller is of another run, or wants another rank");
  known_[kEncryptAt] = bytes[kEncryptAt];
  const Digest answer = proof(alike ? "answer" : "unlike");
  Bytes said(known_.begin() + kHelloBytes, known_.begin() + kHelloBytes + kNonceBytes);
  said.insert(said.end(), answer.begin(), answer.end());
  state_ = alike ? State::call : State::unlike;
  return said;
}

Result<Handshake::Bytes> Handshake::take_answer(std::span<const uint8_t> bytes) {
  std::copy_n(bytes.begin(), kNonceBytes, known_.begin() + kHelloBytes);
  if (proven("unlike", bytes.subspan(kNonceBytes)))
    return fail(
        "transport.encrypt is {} on rank {} and {} on rank {}; all hosts of a run need the same "
        "recipe",
        encrypt_, caller(), !encrypt_, number_at(known_.data() + kAnswererAt));
  if (!proven("answer", bytes.subspan(kNonceBytes)))
    return fail(
        "it does not know this run's secret, or is reached under another address than the one that "
        "it listens on (address translation), which the proof covers");
  state_ = State::welcome;
  const Digest call = proof("call");
  return Bytes(call.begin(), call.end());
}

// From the secret and both nonces, for this connection and one of its directions.
Result<Key> Handshake::key_of(std::string_view direction) const {
  std::array<uint8_t, 2 * kNonceBytes> nonces{};
  std::copy_n(known_.begin() + kNonceAt, nonces.size(), nonces.begin());
  return derive_key(secret_.bytes(), nonces, with_known(direction));
}

Result<> Handshake::finish() {
  state_ = State::done;
  if (!encrypt_) return {};
  const auto asked = key_of("asked"), answered = key_of("answered");
  if (!asked || !answered) return fail(asked ? answered : asked);
  keys_ = calls_ ? Keys{*asked, *answered} : Keys{*answered, *asked};
  return {};
}

}  // namespace heddle::transport
