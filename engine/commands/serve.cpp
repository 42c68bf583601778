// `heddle-engine plan --serve`: requests and answers as lines of JSON, the newest request of a key
// first. A search tells its progress until its last line; plans asked for meanwhile come after it.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/json_number.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/commands/commands.h"
#include "engine/hardware/catalogue.h"
#include "engine/predict/planning.h"
#include "engine/predict/predict.h"
#include "engine/predict/speed_now.h"
#include "engine/search/counting_ranks.h"

namespace heddle::commands {
namespace {

using Json = nlohmann::ordered_json;

struct Job {
  Json id;
  std::string key;
  predict::PlanRequest request;
  std::optional<search::CountingRequest>
      search;  // in place of a plan; one of no numbers is of layouts
  std::atomic<bool> cancelled = false;
};

Json fault_json(const recipe::Fault& fault) {
  std::string text = fault.what;
  if (!fault.suggestion.empty()) text += "; did you mean " + fault.suggestion + "?";
  return {{"line", fault.line},
          {"column", fault.column},
          {"key", fault.key},
          {"text", text},
          {"valid", fault.valid}};
}

Json faults_json(const std::vector<recipe::Fault>& faults) {
  Json json = Json::array();
  for (const recipe::Fault& fault : faults) json.push_back(fault_json(fault));
  return json;
}

/// The hardware that plans can be made for, and the faults of users' files.
Json catalogue_json() {
  const hardware::Catalogue catalogue = hardware::load_catalogue();
  Json entries = Json::array();
  entries.push_back({{"name", hardware::kThisMachine}, {"words", "this machine"}});
  for (const std::string& name : catalogue.names())
    if (const auto entry = catalogue.find(name))
      entries.push_back({{"name", name}, {"words", hardware::words(*entry)}});
  return entries;
}

/// The machine's current speed takes half a second to measure: answers after a rest include it, and
/// no answer waits for it.
constexpr std::chrono::seconds kRest{2};

/// Requests come in on one thread and are planned on another.
class Server {
 public:
  int run() {
    std::thread planner([this] { plan_all(); });
    for (std::string line; std::getline(std::cin, line);)
      if (line.find_first_not_of(" \t\r") != std::string::npos) take(line);
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    planner.join();
    return 0;
  }

 private:
  void take(const std::string& line) {
    Json id;
    try {
      const auto read = read_json(line);
      if (!read) throw std::runtime_error(read.error().message);
      const nlohmann::json& asked = *read;
      if (!asked.is_object()) throw std::runtime_error("a request is an object");
      id = asked.value("id", nlohmann::json());
      if (asked.value("catalogue", false))
        return say({{"id", id}, {"catalogue", catalogue_json()}});
      if (asked.contains("cancel")) return cancel(asked.at("cancel"));
      auto job = std::make_shared<Job>();
      job->id = id;
      if (asked.value("search", false)) {
        job->search = search_request(asked);
        return put_search(std::move(job));
      }
      job->key = asked.value("key", "");
      job->request = {.text = asked.at("recipe").get<std::string>(),
                      .file = asked.value("file", "recipe.toml"),
                      .sets = asked.value("sets", std::vector<std::string>{}),
                      .ranks = whole_or(asked, "ranks", int64_t{0}),
                      .hardware = asked.value("hardware", ""),
                      .executor = asked.value("executor", "heddle"),
                      .numbers = asked.value("numbers", predict::OtherNumbers{}),
                      .timeline = asked.value("timeline", false),
                      .closes = asked.value("closes", true)};
      put(std::move(job));
    } catch (const std::exception& error) {
      say({{"id", id},
           {"error", fmt::format("no request of this version: {}; valid: {{\"id\": 1, \"key\": "
                                 "\"compose\", \"recipe\": \"<TOML text>\", …}}",
                                 error.what())}});
    }
  }

  static search::CountingRequest search_request(const nlohmann::json& asked) {
    search::CountingRequest request{.search = layout_request(asked),
                                    .counts = asked.value("counts", std::vector<int64_t>{}),
                                    .tokens = asked.value("tokens", 0.0)};
    if (std::ranges::any_of(request.counts, [](int64_t ranks) { return ranks < 1; }))
      throw std::runtime_error("counts are numbers of ranks, 1 or more");
    return request;
  }

  static search::SearchRequest layout_request(const nlohmann::json& asked) {
    return {.text = asked.at("recipe").get<std::string>(),
            .file = asked.value("file", "recipe.toml"),
            .sets = asked.value("sets", std::vector<std::string>{}),
            .ranks = whole_or(asked, "ranks", int64_t{0}),
            .hardware = asked.value("hardware", ""),
            .memory_limit = whole_or(asked, "memory_limit", int64_t{0}),
            .fixes = asked.value("fixes", std::vector<std::string>{})};
  }

  /// One at a time: it takes seconds.
  void put_search(std::shared_ptr<Job> job) {
    {
      const std::lock_guard lock(mutex_);
      if (!searching_) {
        searching_ = job;
        waiting_.push_back(std::move(job));
      }
    }
    if (!job) return changed_.notify_one();
    say({{"id", job->id},
         {"error", "a search runs already; valid: another one when it has ended or is cancelled"}});
  }

  /// The search of that id, which then tells what it knows.
  void cancel(const nlohmann::json& id) {
    const std::lock_guard lock(mutex_);
    if (searching_ && searching_->id == Json(id)) searching_->cancelled = true;
  }

  /// Gives up older questions with the same key.
  void put(std::shared_ptr<Job> job) {
    std::vector<Json> given_up;
    {
      const std::lock_guard lock(mutex_);
      if (!job->key.empty()) {
        for (const auto& waiting : waiting_)
          if (waiting->key == job->key) given_up.push_back(waiting->id);
        std::erase_if(waiting_, [&](const auto& waiting) { return waiting->key == job->key; });
        if (running_ && running_->key == job->key) running_->cancelled = true;
      }
      waiting_.push_back(std::move(job));
    }
    changed_.notify_one();
    for (const Json& id : given_up) say({{"id", id}, {"cancelled", true}});
  }

  void plan_all() {
    predict::Planning planning;
    while (const std::shared_ptr<Job> job = next()) {
      if (job->search) {
        search(planning, *job);
        continue;
      }
      predict::PlanAnswer answer = Error{"planning failed"};
      try {
        answer = planning.answer(job->request, [&] { return job->cancelled.load(); });
      } catch (const std::exception& error) {
        answer = Error{error.what()};
      }
      tell(*job, answer);
      const auto* document = std::get_if<plan::Document>(&answer);
      here_ = document != nullptr && predict::is_this_machine(document->hardware);
    }
  }

  auto progress_of(const Job& job, const char* key) {
    return [this, &job, key](const auto& known, double share) {
      say({{"id", job.id}, {"progress", share}, {key, plan::to_json(known)}});
    };
  }

  void search(predict::Planning& planning, const Job& job) {
    const auto cancelled = [&] { return job.cancelled.load(); };
    if (job.search->counts.empty()) {
      const search::Hooks hooks{.cancelled = cancelled, .progress = progress_of(job, "found")};
      end_search(job, "found",
                 [&] { return search::search_layouts(planning, job.search->search, hooks); });
    } else {
      const search::CountingHooks hooks{.cancelled = cancelled,
                                        .progress = progress_of(job, "counts")};
      end_search(job, "counts", [&] { return search::count_ranks(planning, *job.search, hooks); });
    }
  }

  /// Tells what the search gives, under `key`.
  template <typename Search>
  void end_search(const Job& job, const char* key, const Search& search) {
    std::invoke_result_t<Search> answer = Error{"the search failed"};
    try {
      answer = search();
    } catch (const std::exception& error) {
      answer = Error{error.what()};
    }
    {
      const std::lock_guard lock(mutex_);
      searching_.reset();
    }
    Json json = {{"id", job.id}};
    if (const auto* found = std::get_if<0>(&answer)) {
      json[key] = plan::to_json(*found);
    } else if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer)) {
      json["faults"] = faults_json(*faults);
    } else {
      json["error"] = std::get<Error>(answer).message;
    }
    say(json);
  }

  /// Waits for one; none: there are no more.
  std::shared_ptr<Job> next() {
    std::unique_lock lock(mutex_);
    running_.reset();
    const auto asked = [&] { return ended_ || !waiting_.empty(); };
    if (here_ && !changed_.wait_for(lock, kRest, asked)) {
      lock.unlock();
      predict::measure_speed();
      lock.lock();
    }
    changed_.wait(lock, asked);
    if (waiting_.empty()) return nullptr;
    running_ = std::move(waiting_.front());
    waiting_.pop_front();
    return running_;
  }

  void tell(const Job& job, const predict::PlanAnswer& answer) {
    Json json = {{"id", job.id}};
    if (const auto* document = std::get_if<plan::Document>(&answer)) {
      json["plan"] = plan::to_json(*document);
    } else if (const auto* faults = std::get_if<std::vector<recipe::Fault>>(&answer)) {
      json["faults"] = faults_json(*faults);
    } else if (const std::string& message = std::get<Error>(answer).message;
               message == predict::kCancelled) {
      json["cancelled"] = true;
    } else {
      json["error"] = message;
    }
    say(json);
  }

  void say(const Json& line) {
    const std::string text = json_text(line) + "\n";
    const std::lock_guard lock(output_);
    std::cout << text << std::flush;
  }

  std::mutex mutex_, output_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::shared_ptr<Job> running_, searching_;
  bool ended_ = false;
  bool here_ = false;  // the last plan was of this machine; the planning thread alone
};

}  // namespace

int serve_plans() { return Server().run(); }

}  // namespace heddle::commands
