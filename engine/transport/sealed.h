// How ranks of several hosts seal what they say once each has proven who it is, where the recipe
// asks for it (transport.encrypt): keys and records. No socket here.
//
//   a record: the length of its text in four bytes | the text by AES-256-GCM | a tag of 16 bytes
//
// A record's nonce is its number, and its length is authenticated with it: one that is changed,
// cut, left out, repeated or out of its place does not open. Each direction of each connection has
// a key of its own, and a new one every kRecordsPerKey records: 4 GiB at most, far below what
// AES-GCM bears (RFC 8446, 5.5).
#pragma once

#include <openssl/evp.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"

namespace heddle::transport {

/// Wiped with its owner.
struct Key {
  std::array<uint8_t, 32> bytes{};
  ~Key();
};

/// The keys of one side of a connection.
struct Keys {
  Key out, in;
};

/// HKDF-SHA256 (RFC 5869).
Result<Key> derive_key(std::span<const uint8_t> from, std::span<const uint8_t> salt,
                       std::span<const uint8_t> info);

inline constexpr size_t kMaxRecordBytes = 64 << 10;  // of text
inline constexpr size_t kRecordLengthBytes = 4;
inline constexpr size_t kTagBytes = 16;
inline constexpr uint64_t kRecordsPerKey = 1 << 16;

/// Bytes of a record with so much text.
constexpr size_t record_bytes(size_t text) { return kRecordLengthBytes + text + kTagBytes; }

/// The length that a record begins with.
size_t text_bytes(std::span<const uint8_t> record);

/// The error for a side whose record does not open, or is none.
tl::unexpected<Error> altered();

/// One direction of a connection, on one of its two sides: the records one after the other. Errors
/// say what has become of the other side, as in "rank 1 has sent …". Thread contract: one thread.
class Seal {
 public:
  enum class Side { seals, opens };
  /// `first`: the number of the first record.
  Seal(const Key& key, Side side, uint64_t first = 0);

  /// Writes the next record with the bytes of `text`, one after the other; `record` has their
  /// record_bytes.
  Result<> seal(std::span<const iovec> text, std::span<uint8_t> record);
  /// Writes a record's text to `places`, which have its text_bytes. After an error the
  /// bytes there mean nothing.
  Result<> open(std::span<const uint8_t> record, std::span<const iovec> places);

 private:
  Result<> begin(std::span<const uint8_t> length);
  Result<> renew_key();
  bool set_key();

  Key key_;
  Side side_;
  uint64_t next_;
  bool keyed_ = false;
  std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> cipher_;
};

}  // namespace heddle::transport
