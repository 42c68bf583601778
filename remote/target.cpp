#include "remote/target.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "remote/batch_systems.h"
#include "remote/container.h"

namespace heddle::remote {
namespace {

using nlohmann::json;

bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), plain);
}

}  // namespace

size_t Target::parts() const { return job ? static_cast<size_t>(job->nodes) : hosts.size(); }

const Host& Target::host_of(size_t part) const { return job ? hosts[0] : hosts[part]; }

std::string Target::part_name(size_t part) const {
  if (!job) return hosts[part].name;
  return job->nodes == 1 ? name : fmt::format("node {} of {}", part, name);
}

Host host_here() {
  Host host;
  host.name = kThisMachine;
  return host;
}

Target this_machine() {
  Target target;
  target.name = kThisMachine;
  target.hosts = {host_here()};
  return target;
}

std::string tidy_folder(const std::string& path) {
  std::string tidy;
  for (const char c : path)
    if (c != '/' || !tidy.ends_with('/')) tidy += c;
  if (tidy.size() > 1 && tidy.ends_with('/')) tidy.pop_back();
  return tidy;
}

std::string before_address(const Host& host) {
  return host.name == host.address ? std::string() : host.name + ": ";
}

void go_through(Host& host, const std::string& jump) {
  if (host.jump == jump) return;
  host.jump = jump;
  host.jump_control_path.clear();
  host.proxy_command.clear();
  host.control_path.clear();
}

Result<Host> parse_host(std::string_view text) {
  const std::string whole(text);
  Host host;
  if (const size_t at = text.rfind('@'); at != text.npos) {
    host.user = text.substr(0, at);
    text.remove_prefix(at + 1);
    if (host.user.empty()) return fail("\"{}\" has no user before the @", whole);
  }
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == text.npos) return fail("\"{}\" has no ] after the address", whole);
    port = text.substr(end + 1);
    text = text.substr(1, end - 1);
  } else if (const size_t colon = text.find(':'); colon != text.npos && colon == text.rfind(':')) {
    port = text.substr(colon);
    text = text.substr(0, colon);
  }
  if (!port.empty()) {
    const char* end = port.data() + port.size();
    const auto parsed = std::from_chars(port.data() + 1, end, host.port);
    if (port[0] != ':' || parsed.ec != std::errc() || parsed.ptr != end || host.port == 0) {
      return fail("\"{}\" has a port that is none; valid: [user@]host[:1 to 65535]", whole);
    }
  }
  if (text.empty() || text.find_first_of(" \t\n/'\"\\") != text.npos || text.starts_with('-')) {
    return fail("\"{}\" names no host; valid: [user@]host[:port]", whole);
  }
  host.address = text;
  host.name = host.address;
  return host;
}

uint16_t typed_port(std::string_view text) {
  const Result<Host> host = parse_host(text);
  if (!host) return 0;
  const std::string port = fmt::format(":{}", host->port);
  const bool typed =
      text.ends_with(host->address + port) || text.ends_with(host->address + "]" + port);
  return typed ? host->port : uint16_t{0};
}

void keep_keys(Target& target, const Target& before) {
  std::vector<std::string> endpoints;
  for (const auto* hosts : {&target.hosts, &target.spares})
    for (const Host& host : *hosts) {
      endpoints.push_back(fmt::format("{}:{}", host.address, host.port));
      if (const Result<Host> jump = parse_host(host.jump); jump)
        endpoints.push_back(fmt::format("{}:{}", jump->address, jump->port));
    }
  for (const AcceptedKey& key : before.accepted_keys)
    if (std::ranges::find(endpoints, key.endpoint) != endpoints.end())
      target.accepted_keys.push_back(key);
}

namespace {

Result<> check_folder(const Target& target, const char* what, const std::string& path) {
  if (!path.starts_with('/') && !path.starts_with("~/"))
    return fail("target {}: {} \"{}\" is no folder; valid: /… or ~/…", target.name, what, path);
  const std::filesystem::path folder(tidy_folder(path));
  if (folder.lexically_normal() != folder || folder == "/")
    return fail("target {}: {} \"{}\"; valid: a folder below /, without . and .. in its path",
                target.name, what, path);
  return {};
}

/// The prelude and the container.
Result<> check_start_files(const Target& target) {
  if (!target.prelude.empty() && !target.prelude.starts_with('/'))
    return fail("target {}: prelude \"{}\"; valid: the absolute path of a file of this machine",
                target.name, target.prelude);
  if (target.container.empty()) return {};
  const Result<Container> container = parse_container(target.container);
  if (!container) return fail("target {}: {}", target.name, container.error().message);
  if (container->kind == Container::Kind::pyxis &&
      !(target.job && batch_system(target.job->system)->has_pyxis))
    return fail("target {}: pyxis is a part of Slurm; valid elsewhere: apptainer:IMAGE",
                target.name);
  if (!target.job && target.hosts[0].is_this_machine())
    return fail(
        "target {}: containers are for hosts over SSH and for Slurm, whose engine is in "
        "their root",
        target.name);
  return {};
}

Result<> check_host(const Target& target, const Host& host) {
  if (host.is_this_machine() && target.hosts.size() + target.spares.size() > 1)
    return fail("target {}: a host without an address; only {} has none", target.name,
                kThisMachine);
  if (host.jump.empty()) return {};
  if (!host.proxy_command.empty())
    return fail("target {}: {} has a host to go through and a ProxyCommand; valid: one of them",
                target.name, host.name);
  if (const Result<Host> jump = parse_host(host.jump); !jump)
    return fail("target {}: jump of {}: {}", target.name, host.name, jump.error().message);
  return {};
}

Result<> check_spares(const Target& target) {
  if (target.job && !target.spares.empty())
    return fail("target {}: the batch system chooses its nodes itself; valid: no spares",
                target.name);
  for (const Host& spare : target.spares)
    if (std::ranges::find(target.hosts, spare.name, &Host::name) != target.hosts.end())
      return fail("target {}: {} is one of its hosts; valid: another host as a spare", target.name,
                  spare.name);
  return {};
}

}  // namespace

Result<> check(const Target& target) {
  if (!is_name(target.name)) {
    return fail("target \"{}\": valid names are 1 to 64 of A-Z a-z 0-9 . _ -", target.name);
  }
  if (target.hosts.empty()) return fail("target {}: there is no host in it", target.name);
  if (!target.root.starts_with('/') && !target.root.starts_with("~/")) {
    return fail("target {}: root \"{}\" is no folder; valid: /… or ~/…", target.name, target.root);
  }
  if (target.job) {
    const BatchSystem* system = batch_system(target.job->system);
    if (!system)
      return fail("target {}: there is no batch system \"{}\"", target.name, target.job->system);
    if (target.hosts.size() > 1)
      return fail("target {}: {} is reached through one {}, not {}", target.name, system->name,
                  system->host, target.hosts.size());
    if (const Result<> asked = system->check(*target.job); !asked)
      return fail("target {}: {}", target.name, asked.error().message);
  }
  if (const Result<> checked = check_folder(target, "root", target.root); !checked) return checked;
  if (!target.data_root.empty())
    if (const Result<> checked = check_folder(target, "data root", target.data_root); !checked)
      return checked;
  if (const Result<> checked = check_start_files(target); !checked) return checked;
  for (const auto* hosts : {&target.hosts, &target.spares})
    for (const Host& host : *hosts)
      if (const Result<> checked = check_host(target, host); !checked) return checked;
  return check_spares(target);
}

namespace {

/// Fields that most hosts do not have.
constexpr std::pair<const char*, std::string Host::*> kRareFields[] = {
    {"proxy_command", &Host::proxy_command},
    {"control_path", &Host::control_path},
    {"jump_control_path", &Host::jump_control_path}};

json json_of(const JobRequest& request) {
  json object = json::object();
  for (const JobField& field : batch_system(request.system)->fields)
    std::visit([&](auto member) { object[field.key] = request.*member; }, field.member);
  return object;
}

json json_of(const std::vector<Host>& hosts) {
  json list = json::array();
  for (const Host& host : hosts) {
    list.push_back({{"name", host.name},
                    {"address", host.address},
                    {"user", host.user},
                    {"port", host.port},
                    {"identity_files", host.identity_files},
                    {"identities_only", host.identities_only},
                    {"jump", host.jump},
                    {"host_key_alias", host.host_key_alias},
                    {"known_hosts", host.known_hosts}});
    json& item = list.back();
    if (!host.certificate_files.empty()) item["certificate_files"] = host.certificate_files;
    for (const auto& [key, field] : kRareFields)
      if (!(host.*field).empty()) item[key] = host.*field;
  }
  return list;
}

std::vector<Host> hosts_from(const json& list) {
  std::vector<Host> hosts;
  for (const json& item : list) {
    Host host;
    host.name = item.value("name", host.name);
    host.address = item.value("address", host.address);
    host.user = item.value("user", host.user);
    host.port = whole_or(item, "port", host.port);
    host.identity_files = item.value("identity_files", host.identity_files);
    // Saved by an older Heddle.
    if (const std::string one = item.value("identity_file", ""); !one.empty())
      host.identity_files = {one};
    host.identities_only = item.value("identities_only", host.identities_only);
    host.jump = item.value("jump", host.jump);
    host.host_key_alias = item.value("host_key_alias", host.host_key_alias);
    host.known_hosts = item.value("known_hosts", host.known_hosts);
    host.certificate_files = item.value("certificate_files", host.certificate_files);
    for (const auto& [key, field] : kRareFields) host.*field = item.value(key, "");
    if (host.name.empty()) host.name = host.address;
    hosts.push_back(std::move(host));
  }
  return hosts;
}

JobRequest request_from(const BatchSystem& system, const json& object) {
  JobRequest request{.system = system.key};
  const auto read = [&](const char* key, auto& value) {
    if constexpr (std::is_integral_v<std::remove_reference_t<decltype(value)>>)
      value = whole_or(object, key, value);
    else
      value = object.value(key, value);
  };
  for (const JobField& field : system.fields)
    std::visit([&](auto member) { read(field.key, request.*member); }, field.member);
  return request;
}

}  // namespace

std::string to_json(const Target& target) {
  json hosts = json_of(target.hosts);
  json keys = json::array();
  for (const AcceptedKey& key : target.accepted_keys) {
    keys.push_back({{"endpoint", key.endpoint}, {"fingerprint", key.fingerprint}});
  }
  json object{
      {"name", target.name}, {"hosts", hosts}, {"root", target.root}, {"accepted_keys", keys}};
  if (target.public_addresses) object["public"] = true;
  if (target.job) object[target.job->system] = json_of(*target.job);
  if (!target.prelude.empty()) object["prelude"] = target.prelude;
  if (!target.container.empty()) object["container"] = target.container;
  if (!target.data_root.empty()) object["data_root"] = target.data_root;
  if (!target.spares.empty()) object["spares"] = json_of(target.spares);
  return json_text(object);
}

Result<Target> target_from_json(const std::string& text) {
  const Result<json> read = read_json(text);
  if (!read) return fail("this is not a target: {}", read.error().message);
  const json& object = *read;
  try {
    Target target;
    target.name = object.at("name");
    target.root = object.value("root", target.root);
    target.prelude = object.value("prelude", "");
    target.container = object.value("container", "");
    target.data_root = object.value("data_root", "");
    target.public_addresses = object.value("public", target.public_addresses);
    for (const BatchSystem& system : batch_systems())
      if (object.contains(system.key)) target.job = request_from(system, object.at(system.key));
    target.hosts = hosts_from(object.at("hosts"));
    target.spares = hosts_from(object.value("spares", json::array()));
    for (const json& item : object.value("accepted_keys", json::array())) {
      target.accepted_keys.push_back({item.at("endpoint"), item.at("fingerprint")});
    }
    if (const Result<> checked = check(target); !checked) return fail(checked);
    return target;
  } catch (const json::exception& error) {
    return fail("this is not a target: {}", error.what());
  }
}

}  // namespace heddle::remote
