#include "gui/models/plan_client.h"

#include "gui/models/plan_process.h"

namespace heddle::gui {
namespace {

constexpr int kSoonMilliseconds = 8;

}  // namespace

PlanClient::PlanClient(const QString& engine, int patience, QObject* parent)
    : QObject(parent), process_(new PlanProcess(engine, patience)) {
  process_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, process_, &QObject::deleteLater);
  connect(process_, &PlanProcess::answered, this, &PlanClient::take);
  connect(process_, &PlanProcess::started, this, [this](qint64 pid) { pid_ = pid; });
  connect(process_, &PlanProcess::restarted, this, [this](const QString& why) {
    troubledAt_ = newest_;
    setTrouble(tr("The planner %1 and has been started again").arg(why));
  });
  soon_.setSingleShot(true);
  soon_.setInterval(kSoonMilliseconds);
  connect(&soon_, &QTimer::timeout, this, &PlanClient::send);
}

PlanClient::~PlanClient() {
  if (!thread_.isRunning()) {
    delete process_;
    return;
  }
  QMetaObject::invokeMethod(process_, &PlanProcess::end);
  thread_.quit();
  thread_.wait();
}

void PlanClient::ask(const QString& key, const plan::PlanQuestion& question) {
  asked_.insert(key, question);
  waiting_.insert(key, 0);
  soon_.start();
}

void PlanClient::send() {
  const auto post = [this](quint64 id, const QString& key, plan::Question question) {
    const QByteArray line = questionLine({id, key.toStdString(), std::move(question)});
    QMetaObject::invokeMethod(process_, [=, this] { process_->ask(id, key, line); });
  };
  if (!thread_.isRunning()) thread_.start();
  if (catalogueId_ == 0) {
    catalogueId_ = ++newest_;
    post(catalogueId_, {}, plan::CatalogueQuestion{});
  }
  for (auto each = asked_.cbegin(); each != asked_.cend(); ++each) {
    waiting_[each.key()] = ++newest_;
    post(newest_, each.key(), each.value());
  }
  asked_.clear();
}

void PlanClient::take(const PlanAnswer& answer) {
  if (answer.id > troubledAt_) setTrouble({});
  if (answer.id == catalogueId_) {
    const auto* catalogue = std::get_if<std::vector<plan::HardwareEntry>>(&answer.reply);
    if (!catalogue) {
      catalogueId_ = 0;  // asked again with the next question
      return;
    }
    catalogue_ = *catalogue;
    Q_EMIT catalogueChanged();
    return;
  }
  const QString key = waiting_.key(answer.id);
  if (key.isEmpty()) return;  // a newer question has taken its place
  waiting_.remove(key);
  const auto* faults = std::get_if<std::vector<plan::Fault>>(&answer.reply);
  if (answer.prediction)
    Q_EMIT planned(key, answer.prediction);
  else if (faults && !faults->empty())
    Q_EMIT faulty(key, *faults);
  else if (const auto* error = std::get_if<Error>(&answer.reply))
    Q_EMIT failed(key, QString::fromStdString(error->message));
  else
    Q_EMIT failed(key, tr("the planner has dropped the question"));
}

void PlanClient::setTrouble(const QString& trouble) {
  if (trouble == trouble_) return;
  trouble_ = trouble;
  Q_EMIT troubleChanged();
}

}  // namespace heddle::gui
