#include "remote/ssh_config_values.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "remote/ssh_pattern.h"

namespace heddle::remote {
namespace {

const std::vector<std::string> kOneWord{"hostname",        "user",           "port",
                                        "identityfile",    "identitiesonly", "hostkeyalias",
                                        "certificatefile", "controlpath"};
const std::vector<std::string> kWords{"userknownhostsfile", "globalknownhostsfile"};
const std::vector<std::string> kWays{"proxyjump", "proxycommand"};
// Options of terminals, forwarding, logins other than by key, and ssh's patience. Options
// that decide about keys, addresses and ciphers are none of these.
const std::vector<std::string> kIdle{"addkeystoagent",
                                     "batchmode",
                                     "challengeresponseauthentication",
                                     "clearallforwardings",
                                     "compression",
                                     "connectionattempts",
                                     "connecttimeout",
                                     "controlmaster",
                                     "controlpersist",
                                     "dynamicforward",
                                     "enableescapecommandline",
                                     "escapechar",
                                     "exitonforwardfailure",
                                     "fingerprinthash",
                                     "forkafterauthentication",
                                     "forwardagent",
                                     "forwardx11",
                                     "forwardx11timeout",
                                     "forwardx11trusted",
                                     "gatewayports",
                                     "gssapiauthentication",
                                     "gssapidelegatecredentials",
                                     "hashknownhosts",
                                     "ipqos",
                                     "kbdinteractiveauthentication",
                                     "kbdinteractivedevices",
                                     "localcommand",
                                     "localforward",
                                     "loglevel",
                                     "logverbose",
                                     "numberofpasswordprompts",
                                     "obscurekeystroketiming",
                                     "passwordauthentication",
                                     "permitlocalcommand",
                                     "permitremoteopen",
                                     "proxyusefdpass",
                                     "rekeylimit",
                                     "remoteforward",
                                     "requesttty",
                                     "sendenv",
                                     "serveralivecountmax",
                                     "serveraliveinterval",
                                     "stdinnull",
                                     "streamlocalbindmask",
                                     "streamlocalbindunlink",
                                     "syslogfacility",
                                     "tcpkeepalive",
                                     "tunnel",
                                     "tunneldevice",
                                     "updatehostkeys",
                                     "visualhostkey",
                                     "xauthlocation"};

bool has(const std::vector<std::string>& keys, const std::string& key) {
  return std::ranges::find(keys, key) != keys.end();
}

/// "[user@]host[:port]", also as ssh://…; IPv6 addresses in brackets only.
Result<std::string> jump(std::string text) {
  const std::string whole = text;
  if (text.starts_with("ssh://")) {
    text.erase(0, 6);
    if (text.ends_with('/')) text.pop_back();
    if (text.find('%') != text.npos) return fail("\"{}\": %-codes are not possible here", whole);
  }
  const Result<Host> host = parse_host(text);
  if (!host) return fail(host);
  const bool bare = text.find('[') == text.npos && host->address.find(':') != text.npos;
  if (bare) return fail("\"{}\": valid: [user@]host[:port], an IPv6 address in []", whole);
  return text;
}

}  // namespace

bool is_followed(const ConfigLine& line) {
  const std::string& key = line.key;
  return has(kOneWord, key) || has(kWords, key) || has(kWays, key) || key == "ignoreunknown";
}

bool is_idle(const ConfigLine& line) { return has(kIdle, line.key); }

bool is_none(const ConfigLine& line) { return lower(line.rest) == "none"; }

Result<> check_value(const ConfigLine& line) {
  const std::string& key = line.key;
  if (has(kWays, key)) {
    if (const auto jumps = key == "proxyjump" ? jumps_value(line) : std::vector<std::string>{};
        !jumps) {
      return fail(jumps);
    }
    return {};
  }
  if (!has(kOneWord, key) && !has(kWords, key)) return {};
  const auto bad = [&](std::string_view why) {
    return fail("{}: {}: {}", line.place, line.keyword, why);
  };
  if (has(kOneWord, key) && line.words.size() != 1) return bad("takes one value");
  for (const std::string& word : line.words) {
    if (word.empty()) return bad("has an empty value");
    if (line.words.size() > 1 && lower(word) == "none") return bad("none must stand alone");
  }
  if (key == "port") {
    if (const Result<uint16_t> port = port_value(line); !port) return fail(port);
  }
  if (key == "identitiesonly") {
    if (const Result<bool> flag = flag_value(line); !flag) return fail(flag);
  }
  return {};
}

Result<uint16_t> port_value(const ConfigLine& line) {
  const std::string& text = line.words[0];
  const char* end = text.data() + text.size();
  uint16_t port = 0;
  const auto parsed = std::from_chars(text.data(), end, port);
  if (parsed.ec == std::errc() && parsed.ptr == end && port > 0) return port;
  const servent* service = getservbyname(text.c_str(), "tcp");
  if (service) return ntohs(static_cast<uint16_t>(service->s_port));
  return fail("{}: {}: \"{}\" is no port; valid: 1 to 65535", line.place, line.keyword, text);
}

Result<bool> flag_value(const ConfigLine& line) {
  const std::string word = lower(line.words[0]);
  if (word == "yes" || word == "true") return true;
  if (word == "no" || word == "false") return false;
  return fail("{}: {}: \"{}\" is neither yes nor no", line.place, line.keyword, line.words[0]);
}

Result<std::vector<std::string>> jumps_value(const ConfigLine& line) {
  std::vector<std::string> jumps;
  if (is_none(line)) return jumps;
  std::string_view text = std::string_view(line.rest).substr(0, line.rest.find_first_of(" \t#"));
  for (;;) {
    const size_t comma = text.find(',');
    const Result<std::string> one = jump(std::string(text.substr(0, comma)));
    if (!one) return fail("{}: {}: {}", line.place, line.keyword, one.error().message);
    jumps.push_back(*one);
    if (comma == text.npos) return jumps;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace heddle::remote
