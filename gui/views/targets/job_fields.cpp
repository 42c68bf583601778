#include "gui/views/targets/job_fields.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <algorithm>

#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

using Texts = std::vector<std::string>;

void put(QWidget* field, const std::string& value) {
  qobject_cast<QLineEdit*>(field)->setText(QString::fromStdString(value));
}

void put(QWidget* field, int32_t value) { qobject_cast<QSpinBox*>(field)->setValue(value); }

void put(QWidget* field, const Texts& values) {
  QStringList texts;
  for (const std::string& value : values) texts << QString::fromStdString(value);
  qobject_cast<QLineEdit*>(field)->setText(texts.join(QLatin1Char(' ')));
}

void take(const QWidget* field, std::string& value) {
  value = qobject_cast<const QLineEdit*>(field)->text().trimmed().toStdString();
}

void take(const QWidget* field, int32_t& value) {
  value = qobject_cast<const QSpinBox*>(field)->value();
}

void take(const QWidget* field, Texts& values) {
  const QString text = qobject_cast<const QLineEdit*>(field)->text();
  for (const QString& value : text.split(QLatin1Char(' '), Qt::SkipEmptyParts))
    values.push_back(value.toStdString());
}

bool isNumber(const remote::JobField& field) {
  return std::holds_alternative<int32_t remote::JobRequest::*>(field.member);
}

bool isList(const remote::JobField& field) {
  return std::holds_alternative<Texts remote::JobRequest::*>(field.member);
}

}  // namespace

JobFields::JobFields(const remote::BatchSystem& system, QWidget* parent)
    : QWidget(parent), system_(system) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(3, 1);
  std::vector<const remote::JobField*> texts, numbers, lists;
  for (const remote::JobField& field : system.fields)
    (isList(field) ? lists : isNumber(field) ? numbers : texts).push_back(&field);
  widgets_.resize(system.fields.size());
  const auto place = [&](size_t row, int column, const remote::JobField& field, int columns) {
    QWidget* widget = widgetOf(field);
    widgets_[static_cast<size_t>(&field - system.fields.data())] = widget;
    QLabel* name = fieldLabel(translated(field.label), widget);
    if (column == 0) name->setMinimumWidth(96);
    grid->addWidget(name, static_cast<int>(row), column);
    grid->addWidget(widget, static_cast<int>(row), column + 1, 1, columns);
  };
  // Texts to the left, numbers to the right of them, lists below; the tab key follows the rows.
  const size_t rows = std::max(texts.size(), numbers.size());
  for (size_t row = 0; row < rows; ++row) {
    if (row < texts.size()) place(row, 0, *texts[row], 1);
    if (row < numbers.size()) place(row, 2, *numbers[row], 1);
  }
  for (size_t i = 0; i < lists.size(); ++i) place(rows + i, 0, *lists[i], 3);
}

QWidget* JobFields::widgetOf(const remote::JobField& field) {
  QWidget* widget = nullptr;
  if (isNumber(field)) {
    auto* number = new QSpinBox;
    number->setRange(field.lowest, field.highest);
    number->setSpecialValueText(translated(field.unset));
    connect(number, &QSpinBox::valueChanged, this, &JobFields::changed);
    widget = number;
  } else {
    auto* line = new QLineEdit;
    line->setPlaceholderText(translated(field.unset));
    connect(line, &QLineEdit::textChanged, this, &JobFields::changed);
    widget = line;
  }
  widget->setObjectName(QString::fromLatin1(field.key));
  widget->setToolTip(translated(field.tip));
  return widget;
}

void JobFields::fill(const remote::JobRequest& request) {
  for (size_t i = 0; i < widgets_.size(); ++i)
    std::visit([&](auto member) { put(widgets_[i], request.*member); }, system_.fields[i].member);
}

remote::JobRequest JobFields::request() const {
  remote::JobRequest request{.system = system_.key};
  for (size_t i = 0; i < widgets_.size(); ++i)
    std::visit([&](auto member) { take(widgets_[i], request.*member); }, system_.fields[i].member);
  return request;
}

QString translated(const char* words) {
  return *words ? QCoreApplication::translate("BatchSystems", words) : QString();
}

}  // namespace heddle::gui
