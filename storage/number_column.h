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

/// Takes a column off the front that has as many numbers as `numbers`. False if there is
/// none.
bool take_numbers(std::string_view& bytes, std::span<uint64_t> numbers);

}  // namespace heddle::storage
