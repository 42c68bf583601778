// Numbers as people read them, in the window and the shell alike: plain text, three significant
// digits, units always included, bytes binary. NaN and infinity appear by name, without a unit.
#pragma once

#include <string>

namespace heddle {

/// The unit of a value decides how it is written.
enum class Unit {
  unknown,            // whole numbers as counts, others with four digits
  number,             // 1.25, 3.00e-4
  count,              // 6,667
  loss,               // 3.981, 0.0412
  bytes,              // 61.2 GiB
  tokens_per_second,  // 6,667 tok/s
  tokens,             // 8.03 B
  seconds,            // 4.50 s
  share,              // 41.2 %
};

// `more`: so many digits more than usual, where these would hide a difference.
std::string unit_text(Unit unit, double value, int more = 0);

std::string bytes_text(double bytes, int more = 0);             // 61.2 GiB, 832 MiB, 0 B
std::string count_text(double count);                           // 6,667
std::string short_count_text(double count, int more = 0);       // 8.03 B, 525 M, 4.10 k
std::string rate_text(double tokens_per_second, int more = 0);  // 6,667 tok/s, 12.3 tok/s
std::string seconds_text(double seconds, int more = 0);         // 708 ms, 110 s, 25.5 min, 2.31 h
std::string share_text(double fraction, int more = 0);          // 41.2 %
/// 3.981, 12.345; below 0.1 three significant digits (0.0412, 0.000403, 4.12e-5), from 100,000 on
/// four.
std::string loss_text(double loss, int more = 0);
/// So many significant digits: 4.11, 12,345, 3.00e-4; 0 is "0".
std::string significant_text(double value, int digits = 3);

}  // namespace heddle
