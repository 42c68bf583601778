// A column of 64-bit numbers in few bytes: the difference of neighbours where that helps, their
// bytes sorted by place, then zstd. Steps and slowly changing values take next to nothing, noise
// about seven bytes a number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle::storage {

void put_numbers(std::string& bytes, std::span<const uint64_t> numbers);

/// Takes a column of as many numbers as `numbers` has off the front. False where there is none
/// such.
bool take_numbers(std::string_view& bytes, std::span<uint64_t> numbers);

}  // namespace heddle::storage
