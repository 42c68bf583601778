#include "gui/views/runs/filter_popup.h"

#include <QKeyEvent>
#include <algorithm>
#include <set>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr int kMinPopupWidth = 320, kPopupEdge = 8, kPopupRow = 26;
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
    : QListWidget(field),
      session_(session),
      model_(model),
      field_(field),
      readingKeys_(session.readingThread(), this),
      readingTexts_(session.readingThread(), this) {
  setWindowFlags(Qt::ToolTip | Qt::FramelessWindowHint);
  setAttribute(Qt::WA_ShowWithoutActivating);
  setFocusPolicy(Qt::NoFocus);
  setProperty("role", "popup");
  setObjectName(QStringLiteral("filterPopup"));
  setAccessibleName(tr("What may be typed next"));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  field_->installEventFilter(this);
  connect(field_, &QLineEdit::textEdited, this, &FilterPopup::offer);
  connect(this, &QListWidget::itemClicked, this, &FilterPopup::take);
}

void FilterPopup::readKeys() {
  session_.read(
      readingKeys_, [](storage::Reader& reader) { return workbench::read_keys(reader); },
      [this](Result<workbench::RunKeys> keys) {
        if (!keys) return;
        keys_ = std::move(*keys);
        if (isVisible()) offer();
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
      [key, keys = keys_](storage::Reader& reader) -> Result<std::vector<std::string>> {
        const auto values = workbench::read_values(reader, keys, key);
        if (!values) return fail(values);
        std::set<std::string> found;
        for (const auto& [run, value] : *values) addTexts(found, key, value);
        return std::vector<std::string>(found.begin(), found.end());
      },
      [this](Result<std::vector<std::string>> texts) {
        if (!texts) return;
        texts_ = std::move(*texts);
        fill(completion_);
      });
}

void FilterPopup::offer() {
  const QByteArray before = field_->text().left(field_->cursorPosition()).toUtf8();
  completion_ =
      workbench::completion_at(field_->text().toStdString(), static_cast<size_t>(before.size()));
  if (completion_.expects == workbench::FilterCompletion::Expects::value &&
      completion_.key != textsOf_)
    readTexts(completion_.key);
  fill(completion_);
}

void FilterPopup::fill(const workbench::FilterCompletion& completion) {
  clear();
  const auto found = workbench::candidates(completion, keys_, texts_);
  const bool typedWhole = found.size() == 1 && found.front().text == completion.typed;
  if (found.empty() || typedWhole || !field_->hasFocus()) return hide();
  int wide = kMinPopupWidth;
  const QFontMetrics metrics(font());
  for (const workbench::FilterCandidate& one : found) {
    QString text = QString::fromStdString(one.text);
    if (!one.detail.empty()) text += QStringLiteral("   ") + QString::fromStdString(one.detail);
    auto* item = new QListWidgetItem(text, this);
    item->setData(Qt::UserRole, QString::fromStdString(one.text));
    item->setSizeHint(QSize(0, kPopupRow));
    wide = std::max(wide, metrics.horizontalAdvance(text) + 4 * kPopupEdge);
  }
  setCurrentRow(-1);
  const int high = kPopupRow * count() + 2 * kPopupEdge;
  resize(std::min(wide, 2 * field_->width()), high);
  move(field_->mapToGlobal(QPoint(0, field_->height() + 2)));
  show();
  raise();
}

void FilterPopup::take(const QListWidgetItem* item) {
  const std::string text = item->data(Qt::UserRole).toString().toStdString();
  std::string whole = field_->text().toStdString();
  const std::string rest = whole.substr(completion_.at + completion_.length);
  whole = whole.substr(0, completion_.at) + text + ' ';
  const auto cursor = QString::fromStdString(whole).size();
  field_->setText(QString::fromStdString(whole + (rest.starts_with(' ') ? rest.substr(1) : rest)));
  field_->setCursorPosition(static_cast<int>(cursor));
  offer();
}

/// Whether the popup takes the key from the field.
bool FilterPopup::takesKey(const QKeyEvent* event) {
  const bool asked = event->key() == Qt::Key_Space && event->modifiers() & Qt::ControlModifier;
  if (!isVisible()) {
    if (asked || event->key() == Qt::Key_Down) return offer(), isVisible();
    return false;
  }
  switch (event->key()) {
    case Qt::Key_Down:
      setCurrentRow(std::min(currentRow() + 1, count() - 1));
      return true;
    case Qt::Key_Up:
      setCurrentRow(currentRow() - 1);
      return true;
    case Qt::Key_Tab:
      take(currentItem() ? currentItem() : item(0));
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (!currentItem()) return hide(), false;
      take(currentItem());
      return true;
    case Qt::Key_Escape:
      hide();
      return true;
    default:
      return asked;
  }
}

bool FilterPopup::eventFilter(QObject*, QEvent* event) {
  switch (event->type()) {
    case QEvent::FocusIn:
      readKeys();
      break;
    case QEvent::FocusOut:
    case QEvent::Hide:
      hide();
      break;
    case QEvent::ShortcutOverride:
      // Escape closes the popup before it does anything else.
      if (isVisible() && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) event->accept();
      break;
    case QEvent::KeyPress:
      return takesKey(static_cast<QKeyEvent*>(event));
    default:
      break;
  }
  return false;
}

}  // namespace heddle::gui
