// Values of ssh_config lines: which ones ssh would take.
#pragma once

#include <string>
#include <vector>

#include "remote/ssh_config_lines.h"
#include "remote/target.h"

namespace heddle::remote {

/// Keywords that Heddle follows; all others are ignored, or refused by name.
bool is_followed(const ConfigLine& line);

/// Keywords that change nothing about how Heddle reaches a host: not reported.
bool is_idle(const ConfigLine& line);

/// Whether the words of a line that Heddle follows are what its keyword takes. "FILE:LINE: …"
Result<> check_value(const ConfigLine& line);

/// 1 to 65535, or the name of a service.
Result<uint16_t> port_value(const ConfigLine& line);

/// yes and no, also written as true and false.
Result<bool> flag_value(const ConfigLine& line);

/// The hosts to go through, each as it is written; none for "none".
Result<std::vector<std::string>> jumps_value(const ConfigLine& line);

/// Whether the line's whole value is the word none.
bool is_none(const ConfigLine& line);

}  // namespace heddle::remote
