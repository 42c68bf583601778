#include "gui/session.h"

#include <QDir>
#include <QFileInfo>

#include "storage/reading.h"
#include "storage/trust.h"
#include "workbench/continuation.h"

namespace heddle::gui {
namespace {

constexpr int kPollMilliseconds = 500;
constexpr int kThrottleMilliseconds = 250;
constexpr int kSecond = 1000;

}  // namespace

Session::Session(QString store, bool mayWrite) : store_(std::move(store)), mayWrite_(mayWrite) {
  throttle_.setSingleShot(true);
  throttle_.setInterval(kThrottleMilliseconds);
  connect(&throttle_, &QTimer::timeout, this, &Session::storeChanged);
  connect(&poll_, &QTimer::timeout, this, &Session::pollStore);
  connect(&second_, &QTimer::timeout, this, &Session::secondPassed);
  // A picture is drawn before the first poll would be.
  if (mayWrite_) return;
  if (auto reader = storage::Reader::open(store_.toStdString()); reader)
    if (const auto colors = reader->colors(); colors) learnColors(*colors);
}

Session::~Session() = default;

void Session::start() {
  poll_.start(kPollMilliseconds);
  second_.start(kSecond);
  const std::string store = store_.toStdString();
  isNew_ = !QFileInfo::exists(store_);
  setReadOnly(!storage::is_writable(store) || !storage::is_trusted(store));
  if (isReadOnly()) return offerTrust();
  // Owned by the task alone: should it never run, whoever waits is released all the same.
  auto opened = std::make_shared<std::promise<void>>();
  opened_ = opened->get_future().share();
  work(
      starting_,
      [opened = std::move(opened)](workbench::Workbench& workbench) {
        opened->set_value();
        return workbench::import_sample_run(workbench);
      },
      [this](const Result<>& started) {
        if (!started) Q_EMIT message(QString::fromStdString(started.error().message), Tone::bad);
        noteChange();
      });
}

void Session::setReadOnly(bool readOnly) {
  if (std::exchange(readOnly_, readOnly) != readOnly) Q_EMIT readOnlyChanged();
}

void Session::offerTrust() {
  read(
      polling_, [](storage::Reader& reader) { return reader.changed(); },
      [this](const Result<bool>& opened) {
        if (!opened)
          return Q_EMIT message(QString::fromStdString(opened.error().message), Tone::bad);
        // Trust would change nothing there.
        const std::string store = store_.toStdString();
        if (!storage::is_writable(store))
          return Q_EMIT message(QString::fromStdString(storage::unwritable(store).message),
                                Tone::text);
        Q_EMIT offered(tr("%1 is not known to have been made here, and is only read. Trusted, its "
                          "runs are followed, can be "
                          "stopped and removed, on the hosts and in the folders that it names")
                           .arg(QDir::toNativeSeparators(store_)),
                       tr("Trust it"), [this] { trust(); });
      });
}

void Session::trust() {
  const Result<> done = storage::trust(store_.toStdString());
  if (!done) return Q_EMIT message(QString::fromStdString(done.error().message), Tone::bad);
  // It has been opened as one that is not trusted.
  reading_.post([this] { reader_.reset(); });
  start();
}

Result<> Session::openReader() {
  if (reader_) return {};
  if (opened_.valid()) opened_.wait();
  auto opened = storage::Reader::open(store_.toStdString());
  if (!opened) return fail(opened);
  reader_.emplace(std::move(*opened));
  return {};
}

Result<> Session::openWorkbench() {
  if (!mayWrite_) return fail("{} is only read here", store_.toStdString());
  const std::lock_guard lock(opening_);
  if (workbench_) return {};
  auto opened = workbench::Workbench::open(store_.toStdString(), [this](storage::RunId) {
    QMetaObject::invokeMethod(this, &Session::noteChange, Qt::QueuedConnection);
  });
  if (!opened) return fail(opened);
  workbench_ = std::move(*opened);
  return {};
}

void Session::keep(std::function<Result<>(workbench::Workbench&)> change) {
  keeping_.post([this, change = std::move(change)] {
    Result<> kept = openWorkbench();
    if (kept) kept = caught([&] { return change(*workbench_); });
    if (kept) return;
    QMetaObject::invokeMethod(
        this,
        [this, why = QString::fromStdString(kept.error().message)] {
          Q_EMIT message(why, Tone::bad);
        },
        Qt::QueuedConnection);
  });
}

void Session::setAsked(qint64 run, const QString& what) {
  if (asked(run) == what) return;
  if (what.isEmpty())
    asked_.remove(run);
  else
    asked_[run] = what;
  Q_EMIT askedChanged();
}

void Session::editAsNew(const storage::RunDetail& run) {
  bool emptied = false;
  const std::string recipe = workbench::as_new_recipe(run.recipe, emptied);
  // An @ in a name says of which run it is a fork.
  Q_EMIT recipeRequested(
      QStringLiteral("compose"),
      QString::fromStdString(run.summary.name).replace(QLatin1Char('@'), QLatin1Char('-')),
      QString::fromStdString(recipe), {});
  if (emptied)
    Q_EMIT message(tr("checkpoint.folder was emptied: a new run keeps its checkpoints in its own "
                      "run directory"),
                   Tone::text);
}

void Session::pollStore() {
  if (polling_.running()) return;
  read(
      polling_,
      [](storage::Reader& reader) -> Result<std::optional<OwnColors>> {
        const auto changed = reader.changed();
        if (!changed) return fail(changed);
        if (!*changed) return std::nullopt;
        auto colors = reader.colors();
        if (!colors) return fail(colors);
        return std::move(*colors);
      },
      [this](const Result<std::optional<OwnColors>>& changed) {
        if (!changed || !*changed) return;
        learnColors(**changed);
        noteChange();
      });
}

void Session::learnColors(const OwnColors& colors) {
  QHash<qint64, OwnStroke> own;
  for (const auto& [run, text] : colors)
    if (const auto stroke = OwnStroke::of(QString::fromStdString(text)); !stroke.text().isEmpty())
      own.insert(run, stroke);
  runSlots_.setOwn(std::move(own));
}

void Session::noteChange() {
  if (!throttle_.isActive()) throttle_.start();
}

}  // namespace heddle::gui
