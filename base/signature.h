// Signatures (Ed25519, RFC 8032) with a key that follows from a run's secret: who has the public
// half can tell that the signer knew the secret, and learns nothing of it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace heddle {

/// 64 hexadecimal digits.
Result<std::string> public_key(const Secret& secret);

/// 128 hexadecimal digits.
Result<std::string> sign(const Secret& secret, std::string_view text);

/// Whether the holder of the secret behind `public_key` has signed exactly this text. False as well
/// for a key or a signature that is none.
bool is_signed(const std::string& public_key, std::string_view text, const std::string& signature);

}  // namespace heddle
