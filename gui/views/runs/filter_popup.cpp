#include "gui/views/runs/filter_popup.h"

#include <algorithm>
#include <set>

namespace heddle::gui {
namespace {

constexpr size_t kMaxTexts = 200;  // of one key

/// The texts that the values have, each of a list by itself.
void addTexts(std::set<std::string>& texts, const std::string& key, const storage::Value& value) {
  const workbench::KeyKind kind = workbench::kind_of(key);
  const auto* words = std::get_if<std::string>(&value);
  if (kind != workbench::KeyKind::list || !words) {
    if (texts.size() < kMaxTexts) texts.insert(workbench::words_in(kind, value));
    return;
  }
  for (const QString& tag : QString::fromStdString(*words).split(QChar('\n'), Qt::SkipEmptyParts))
    texts.insert(tag.toStdString());
}

}  // namespace

FilterPopup::FilterPopup(Session& session, const RunsModel& model, QLineEdit* field)
    : QObject(field),
      session_(session),
      model_(model),
      field_(field),
      popup_(new CompletionPopup(field, CompletionPopup::Enter::isTheFields)),
      readingKeys_(session.readingThread(), this),
      readingTexts_(session.readingThread(), this) {
  popup_->list()->setObjectName(QStringLiteral("filterPopup"));
  field_->installEventFilter(this);
  connect(field_, &QLineEdit::textEdited, this, &FilterPopup::offer);
  connect(popup_, &CompletionPopup::wanted, this, &FilterPopup::offer);
  connect(popup_, &CompletionPopup::taken, this, &FilterPopup::take);
}

void FilterPopup::readKeys() {
  session_.read(
      readingKeys_, [](storage::Reader& reader) { return workbench::read_keys(reader); },
      [this](Result<workbench::RunKeys> keys) {
        if (!keys) return;
        keys_ = std::move(*keys);
        if (popup_->isVisible()) offer();
      });
}

void FilterPopup::readTexts(const std::string& key) {
  textsOf_ = key;
  texts_.clear();
  readingTexts_.drop();
  if (RunsModel::isOfRow(key)) {
    std::set<std::string> found;
    for (int row = 0; row < model_.rowCount(); ++row)
      if (const auto value = model_.value(row, key)) addTexts(found, key, *value);
    texts_.assign(found.begin(), found.end());
    return;
  }
  session_.read(
      readingTexts_,
      [key, keys = keys_,
       tails = model_.tails()](storage::Reader& reader) -> Result<std::vector<std::string>> {
        const auto values = workbench::read_values(reader, keys, key, tails.get());
        if (!values) return fail(values);
        std::set<std::string> found;
        for (const auto& [run, value] : *values) addTexts(found, key, value);
        return std::vector<std::string>(found.begin(), found.end());
      },
      [this](Result<std::vector<std::string>> texts) {
        if (!texts) return;
        texts_ = std::move(*texts);
        fill();
      });
}

void FilterPopup::offer() {
  const QByteArray before = field_->text().left(field_->cursorPosition()).toUtf8();
  completion_ =
      workbench::completion_at(field_->text().toStdString(), static_cast<size_t>(before.size()));
  if (completion_.expects == workbench::FilterCompletion::Expects::value &&
      completion_.key != textsOf_)
    readTexts(completion_.key);
  fill();
}

void FilterPopup::fill() {
  offered_ = workbench::candidates(completion_, keys_, texts_);
  if (offered_.size() == 1 && offered_.front().text == completion_.typed) offered_.clear();
  QList<Suggestion> suggestions;
  for (const workbench::FilterCandidate& one : offered_)
    suggestions << Suggestion{
        QString::fromStdString(one.text), QString::fromStdString(one.detail), {}};
  popup_->offer(suggestions, field_->rect());
}

void FilterPopup::take(int index) {
  const std::string& text = offered_[static_cast<size_t>(index)].text;
  std::string whole = field_->text().toStdString();
  const std::string rest = whole.substr(completion_.at + completion_.length);
  whole = whole.substr(0, completion_.at) + text + ' ';
  const auto cursor = QString::fromStdString(whole).size();
  field_->setText(QString::fromStdString(whole + (rest.starts_with(' ') ? rest.substr(1) : rest)));
  field_->setCursorPosition(static_cast<int>(cursor));
  offer();
}

bool FilterPopup::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::FocusIn) readKeys();
  return false;
}

}  // namespace heddle::gui
