#include "gui/session.h"

namespace heddle::gui {
namespace {

constexpr int kPollMilliseconds = 500;
constexpr int kThrottleMilliseconds = 250;

}  // namespace

Session::Session(QString store) : store_(std::move(store)) {
  throttle_.setSingleShot(true);
  throttle_.setInterval(kThrottleMilliseconds);
  connect(&throttle_, &QTimer::timeout, this, &Session::storeChanged);
  connect(&poll_, &QTimer::timeout, this, &Session::pollStore);
}

Session::~Session() = default;

void Session::start() {
  work(
      starting_,
      [](workbench::Workbench& workbench) { return workbench::import_sample_run(workbench); },
      [this](const Result<>& started) {
        if (!started) Q_EMIT message(QString::fromStdString(started.error().message), Tone::bad);
        noteChange();
      });
  poll_.start(kPollMilliseconds);
}

Result<> Session::openReader() {
  if (reader_) return {};
  auto opened = storage::Reader::open(store_.toStdString());
  if (!opened) return fail(opened);
  reader_.emplace(std::move(*opened));
  return {};
}

Result<> Session::openWorkbench() {
  const std::lock_guard lock(opening_);
  if (workbench_) return {};
  auto opened = workbench::Workbench::open(store_.toStdString(), [this](storage::RunId) {
    QMetaObject::invokeMethod(this, &Session::noteChange, Qt::QueuedConnection);
  });
  if (!opened) return fail(opened);
  workbench_ = std::move(*opened);
  return {};
}

void Session::pollStore() {
  if (polling_.running()) return;
  read(
      polling_, [](storage::Reader& reader) { return reader.changed(); },
      [this](const Result<bool>& changed) {
        if (changed && *changed) noteChange();
      });
}

void Session::noteChange() {
  if (!throttle_.isActive()) throttle_.start();
}

}  // namespace heddle::gui
