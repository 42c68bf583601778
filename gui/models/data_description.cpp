#include "gui/models/data_description.h"

#include <nlohmann/json.hpp>

#include "base/read_json.h"
#include "engine/data/description_json.h"

namespace heddle::gui {
namespace {

constexpr int kSoonMilliseconds = 150;
constexpr int kEndMilliseconds = 500;
constexpr int kShownLines = 6;  // of what went wrong
constexpr Budget kAnswerBudget{.bytes = size_t{16} << 20};

}  // namespace

DataDescription::DataDescription(QString engine, int patience, QObject* parent)
    : QObject(parent), engine_(std::move(engine)) {
  soon_.setSingleShot(true);
  soon_.setInterval(kSoonMilliseconds);
  connect(&soon_, &QTimer::timeout, this, &DataDescription::start);
  patience_.setSingleShot(true);
  patience_.setInterval(patience);
  connect(&patience_, &QTimer::timeout, this, [this] {
    drop();
    answer({}, tr("the data could not be looked at within %1 s; heddle-engine tokenize-corpus "
                  "makes its tokens, and then they are counted")
                   .arg(patience_.interval() / 1000));
  });
}

DataDescription::~DataDescription() {
  if (process_ == nullptr) return;
  process_->disconnect();
  process_->kill();
  process_->waitForFinished(kEndMilliseconds);
  delete process_;
}

void DataDescription::ask(const DataQuestion& question) {
  const bool other = question.file != question_.file;
  question_ = question;
  soon_.start();
  if (other || (!shown_ && error_.isEmpty())) answer({}, {});  // nothing shown is of this recipe
}

void DataDescription::forget() {
  soon_.stop();
  drop();
  question_ = {};
  answer({}, {});
}

void DataDescription::start() {
  drop();
  process_ = new QProcess;
  // One that is no longer wanted goes when it has ended, which nobody waits for.
  connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
  connect(process_, &QProcess::finished, this, &DataDescription::take);
  connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;  // the others end in `finished`
    const QString why = process_->errorString();
    process_->deleteLater();
    process_ = nullptr;
    answer({}, tr("the engine cannot be started: %1: %2").arg(engine_, why));
  });
  QStringList arguments{QStringLiteral("describe-data"),
                        question_.file.isEmpty() ? QStringLiteral("recipe.toml") : question_.file,
                        QStringLiteral("--json"), QStringLiteral("--stdin")};
  for (const QString& set : question_.sets) arguments << QStringLiteral("--set") << set;
  patience_.start();
  process_->start(engine_, arguments);
  process_->write(question_.recipe.toUtf8());
  process_->closeWriteChannel();
}

void DataDescription::drop() {
  patience_.stop();
  if (process_ == nullptr) return;
  process_->disconnect(this);
  process_->kill();
  process_ = nullptr;
}

void DataDescription::take(int code, QProcess::ExitStatus status) {
  patience_.stop();
  const QByteArray told = process_->readAllStandardOutput();
  const QStringList said = QString::fromUtf8(process_->readAllStandardError())
                               .trimmed()
                               .split(QChar('\n'), Qt::SkipEmptyParts);
  process_ = nullptr;
  if (status == QProcess::CrashExit)
    return answer({},
                  tr("the engine was ended by signal %1 while it looked at the data").arg(code));
  if (code != 0)
    return answer({}, said.isEmpty() ? tr("the engine ended with exit code %1").arg(code)
                                     : said.mid(0, kShownLines).join(QChar('\n')));
  const auto json = read_json({told.constData(), static_cast<size_t>(told.size())}, kAnswerBudget);
  try {
    if (!json) return answer({}, QString::fromStdString(json.error().message));
    answer(data::description_from(*json), {});
  } catch (const nlohmann::json::exception& error) {
    answer({}, tr("the engine's answer cannot be read: %1").arg(QString::fromUtf8(error.what())));
  }
}

void DataDescription::answer(std::optional<data::Description> description, const QString& error) {
  shown_ = std::move(description);
  error_ = error;
  Q_EMIT changed();
}

}  // namespace heddle::gui
