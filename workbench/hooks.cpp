#include "workbench/hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "base/one_line.h"
#include "base/process.h"
#include "base/read_json.h"
#include "storage/json.h"
#include "storage/queries.h"
#include "workbench/paths.h"

namespace heddle::workbench {
namespace {

constexpr std::chrono::seconds kHookDeadline{20};
constexpr const char *kAlertEvent = "alert", *kOverEvent = "over";
constexpr std::array kEvents{"done", "stopped", "failed", "lost", kAlertEvent, kOverEvent};
constexpr const char* kValidEvents = "done, stopped, failed, lost, alert, over";

bool is_address(const std::string& text) {
  return text.find('@') != std::string::npos && !text.starts_with('-') &&
         text.find_first_of(" \t\r\n,;<>") == std::string::npos;
}

Result<std::vector<std::string>> read_texts(const std::string& key, const nlohmann::json& json) {
  std::vector<std::string> texts;
  for (const nlohmann::json& text : json) {
    if (!text.is_string()) return fail("{}: valid: a list of texts", key);
    texts.push_back(text.get<std::string>());
  }
  if (!json.is_array() || texts.empty()) return fail("{}: valid: a list of texts", key);
  return texts;
}

Result<> take_key(Hook& hook, const std::string& key, const nlohmann::json& value) {
  if (key == "on" || key == "command") {
    auto texts = read_texts(key, value);
    if (!texts) return fail(texts);
    (key == "on" ? hook.on : hook.command) = std::move(*texts);
    for (const std::string& event : hook.on)
      if (std::ranges::find(kEvents, event) == kEvents.end())
        return fail("on: there is no event \"{}\"; valid: {}", event, kValidEvents);
    return {};
  }
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (key == "webhook") {
    if (!text.starts_with("https://") && !text.starts_with("http://"))
      return fail("webhook: valid: an address that begins with https:// or http://");
    hook.webhook = text;
    return {};
  }
  if (key == "mail") {
    if (!is_address(text)) return fail("mail: valid: one address, such as me@example.org");
    hook.mail = text;
    return {};
  }
  return fail("there is no key \"{}\"; valid: on, and one of command, webhook, mail", key);
}

Result<Hook> read_hook(const nlohmann::json& json) {
  Hook hook;
  if (!json.is_object()) return fail("valid: an object with on, and one of command, webhook, mail");
  for (const auto& [key, value] : json.items())
    if (const auto taken = take_key(hook, key, value); !taken) return fail(taken);
  const int kinds = static_cast<int>(!hook.command.empty()) +
                    static_cast<int>(!hook.webhook.empty()) + static_cast<int>(!hook.mail.empty());
  if (hook.on.empty()) return fail("on is missing; valid: {}", kValidEvents);
  if (kinds != 1) return fail("valid: one of command, webhook, mail");
  return hook;
}

Result<> run_to_end(const std::vector<std::string>& argv, std::string input) {
  const auto run =
      process::run({.argv = argv, .input = std::move(input), .deadline = kHookDeadline});
  if (!run) return fail(run);
  if (run->exit_code == 0) return {};
  const std::string said = one_line(run->err.empty() ? run->out : run->err);
  return fail("{} ended with exit code {}{}{}", argv.front(), run->exit_code,
              said.empty() ? "" : ": ", said);
}

}  // namespace

std::string hooks_path() { return settings_folder() + "/hooks.json"; }

Result<std::vector<Hook>> read_hooks(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::vector<Hook>{};
  const auto json = read_json_file(path, {.bytes = 1 << 16, .values = 4096, .depth = 4});
  if (!json) return fail(json);
  if (!json->is_array()) return fail("{}: valid: a list of hooks", path);
  std::vector<Hook> hooks;
  for (size_t i = 0; i < json->size(); ++i) {
    auto hook = read_hook((*json)[i]);
    if (!hook) return fail("{}: hook {}: {}", path, i + 1, hook.error().message);
    hooks.push_back(std::move(*hook));
  }
  return hooks;
}

std::string RunEvent::line() const {
  const bool is_alert = name == kAlertEvent || name == kOverEvent;
  const std::string what = is_alert ? words : words.empty() ? name : name + ": " + words;
  return one_line(fmt::format("{} {}", is_alert ? run.name + ":" : run.name, what));
}

std::string RunEvent::json(const std::string& store_path) const {
  const nlohmann::json json{{"event", name},
                            {"text", line()},
                            {"words", words},
                            {"run", storage::runs_json({run}).front()},
                            {"store", store_path}};
  return json_text(json) + "\n";
}

Result<> run_hook(const Hook& hook, const RunEvent& event, const std::string& store_path) {
  if (!hook.command.empty()) return run_to_end(hook.command, event.json(store_path));
  if (!hook.webhook.empty())
    return run_to_end({"curl", "--silent", "--show-error", "--fail", "--max-time", "15", "--header",
                       "Content-Type: application/json", "--data-binary", "@-", "--", hook.webhook},
                      event.json(store_path));
  return run_to_end({"/usr/sbin/sendmail", "-oi", "-t"},
                    fmt::format("To: {}\nSubject: {}\nContent-Type: text/plain; charset=utf-8\n"
                                "\n{}\n\nTarget: {}\nSteps: {}\nStore: {}\n",
                                hook.mail, event.line(), event.line(), event.run.target,
                                event.run.steps, store_path));
}

Hooks::Hooks(std::string store_path, storage::Writer& writer, storage::RunId run)
    : store_path_(std::move(store_path)), writer_(writer), run_(run) {}

Hooks::~Hooks() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Hooks::alert(const Alert& alert) {
  add({alert.over ? kOverEvent : kAlertEvent, name_of(alert.kind) + ", " + alert.words});
}

void Hooks::end() { add({}); }

void Hooks::add(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  wake_.notify_one();
}

void Hooks::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    const Result<> handled = handle(task);
    if (handled) continue;
    // If the store fails, the run's follower reports it.
    [[maybe_unused]] const auto added =
        writer_
            .add_line(run_, {.level = telemetry::Level::warning,
                             .text = "hook: " + handled.error().message})
            .get();
  }
}

Result<> Hooks::handle(const Task& task) const {
  const auto hooks = read_hooks(hooks_path());
  if (!hooks) return fail(hooks);
  if (hooks->empty()) return {};
  auto reader = storage::Reader::open(store_path_);
  if (!reader) return fail(reader);
  const auto run = reader->run(run_);
  if (!run) return fail(run);
  const storage::RunSummary& summary = run->summary;
  const bool is_end = task.event.empty();
  const RunEvent event{is_end ? to_string(summary.state) : task.event, summary,
                       is_end ? summary.cause : task.words};
  std::string failed;
  for (const Hook& hook : *hooks) {
    if (std::ranges::find(hook.on, event.name) == hook.on.end()) continue;
    if (const Result<> done = run_hook(hook, event, store_path_); !done)
      failed += (failed.empty() ? "" : "; ") + done.error().message;
  }
  if (!failed.empty()) return fail("{}", failed);
  return {};
}

}  // namespace heddle::workbench
