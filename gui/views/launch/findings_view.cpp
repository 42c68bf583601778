#include "gui/views/launch/findings_view.h"

#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/state_look.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

using probe::Status;

/// Failures come first, then warnings, then the rest.
int order(Status status) {
  switch (status) {
    case Status::fail:
      return 0;
    case Status::warn:
      return 1;
    case Status::unknown:
      return 2;
    case Status::pass:
      return 3;
  }
  return 3;
}

/// One finding; the keyboard reaches those that ask for something.
class FindingRow : public QWidget {
 public:
  explicit FindingRow(const workbench::Finding& finding) : status_(finding.status) {
    const StateLook look = lookOf(finding.status);
    auto* symbol = new Symbol(14, look.icon, look.tone);
    symbol->setFixedSize(16, 18);
    const QString name = QString::fromStdString(finding.name);
    auto* what =
        label(QStringLiteral("<span style=\"font-weight:600\">%1</span>&ensp;%2")
                  .arg(name.toHtmlEscaped(), QString::fromStdString(finding.what).toHtmlEscaped()));
    what->setTextFormat(Qt::RichText);
    what->setWordWrap(true);
    what->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(1);
    texts->addWidget(what);
    if (!finding.remedy.empty()) {
      auto* remedy = muted(QString::fromStdString(finding.remedy));
      remedy->setWordWrap(true);
      remedy->setTextInteractionFlags(Qt::TextSelectableByMouse);
      texts->addWidget(remedy);
    }
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 4, 6, 5);
    row->setSpacing(8);
    row->addWidget(symbol, 0, Qt::AlignTop);
    row->addLayout(texts, 1);
    setObjectName(QStringLiteral("finding"));
    setProperty("name", name);
    setAccessibleName(QString::fromUtf8(probe::word(finding.status).data()) + QStringLiteral(": ") +
                      QString::fromStdString(finding.line()));
    if (finding.status != Status::pass) setFocusPolicy(Qt::StrongFocus);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    if (status_ == Status::fail)
      painter.fillRect(rect(), blend(colors().surface, colors().bad, 0.1));
    if (!hasFocus()) return;
    painter.setPen(colors().accent);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
  void focusInEvent(QFocusEvent* event) override {
    QWidget::focusInEvent(event);
    update();
  }
  void focusOutEvent(QFocusEvent* event) override {
    QWidget::focusOutEvent(event);
    update();
  }

 private:
  Status status_;
};

}  // namespace

FindingsView::FindingsView(QWidget* parent) : QWidget(parent) {
  rows_ = new QVBoxLayout(this);
  rows_->setContentsMargins(0, 0, 0, 0);
  rows_->setSpacing(2);
}

void FindingsView::begin() {
  clear(rows_);
  shown_.clear();
  firstFailing_ = nullptr;
}

void FindingsView::setFindings(const std::vector<workbench::Finding>& findings) {
  if (findings == shown_ && !findings.empty()) return;  // keeps the focus where it is
  begin();
  shown_ = findings;
  std::vector<const workbench::Finding*> ordered;
  for (const workbench::Finding& finding : shown_) ordered.push_back(&finding);
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* left, const auto* right) {
    return order(left->status) < order(right->status);
  });
  for (const workbench::Finding* finding : ordered) {
    auto* row = new FindingRow(*finding);
    rows_->addWidget(row);
    if (!firstFailing_ && finding->status == Status::fail) firstFailing_ = row;
  }
}

void FindingsView::setHint(const QString& text) {
  begin();
  QLabel* hint = muted(text);
  hint->setWordWrap(true);
  rows_->addWidget(hint);
}

}  // namespace heddle::gui
