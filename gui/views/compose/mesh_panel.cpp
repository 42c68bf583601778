#include "gui/views/compose/mesh_panel.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "engine/hardware/nodes_in_use.h"
#include "gui/format.h"
#include "gui/views/compose/field_kinds.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr qint64 kUsualNode = 8;

/// Ranks of a node of the recipe's hardware.
qint64 ranksPerNode(const recipe::Hardware& hardware) {
  if (const auto entry = catalogue().find(hardware.name))
    return hardware::in_use(entry->node, hardware.ranks).devices;
  const bool here = hardware.name == hardware::kThisMachine && hardware.ranks <= kUsualNode * 8;
  return here ? hardware.ranks : kUsualNode;
}

}  // namespace

MeshPanel::MeshPanel(const RecipeDocument& document, QLabel* product, QWidget* parent)
    : QWidget(parent), document_(document), product_(product), mesh_(new MeshView) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 8, 0, 0);
  column->setSpacing(8);
  auto* head = new QHBoxLayout;
  head->addWidget(section(tr("Device mesh")));
  head->addStretch(1);
  note_ = caption({});
  note_->setObjectName(QStringLiteral("meshNote"));
  head->addWidget(note_);
  column->addLayout(head);
  column->addWidget(mesh_);
}

void MeshPanel::refresh() {
  const recipe::Parallelism& p = document_.resolved().recipe.parallelism;
  const qint64 ranks = document_.resolved().recipe.hardware.ranks;
  recipe::Degrees degrees = p;
  int64_t& rest = degrees.*recipe::kRest.degree;
  const bool open = rest < 1;  // could not be filled in
  if (open) rest = 1;
  const recipe::Mesh mesh(degrees);
  const qint64 product = mesh.size();
  const bool fits = !open && product == ranks;
  QStringList names, numbers;
  for (const recipe::Axis& axis : recipe::kAxes) {
    const bool unknown = open && axis.takes_rest;
    names << QLatin1String(axis.name);
    numbers << (unknown ? QStringLiteral("?") : QString::number(p.*axis.degree));
  }
  product_->setText(QStringLiteral("%1 = %2 %3")
                        .arg(numbers.join(QStringLiteral("·")),
                             format::plural(open ? ranks : product, counted::kRank),
                             fits ? QStringLiteral("✓") : QStringLiteral("✗")));
  product_->setToolTip(
      tr("%1, outermost first; there are %2")
          .arg(names.join(QStringLiteral(" × ")), format::plural(ranks, counted::kRank)));
  setTone(product_, fits ? "good" : "bad");
  mesh_->setMesh(mesh, ranks, ranksPerNode(document_.resolved().recipe.hardware), fits);
  note_->setText(fits ? colorWords(mesh) : QString());
}

QString MeshPanel::colorWords(const recipe::Mesh& mesh) const {
  const qint64 sharing = mesh.size(recipe::kSharing), stage = mesh.size() / mesh.size(recipe::kPp);
  if (mesh_->colored() == recipe::kPp)
    return tr("one colour to a stage of %1").arg(format::plural(stage, counted::kRank));
  if (sharing == 1) return tr("nothing is sharded");
  if (sharing == mesh.size()) return tr("one group of %1 shards").arg(format::count(sharing));
  return tr("one colour to a group of %1 shards").arg(format::count(sharing));
}

}  // namespace heddle::gui
