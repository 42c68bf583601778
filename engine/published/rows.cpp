#include "engine/published/rows.h"

#include "engine/published/cells.h"

namespace heddle::published {
namespace {

constexpr std::string_view kRowsHeader =
    "model,dim,layers,ffn,hardware,ranks,seq,micro_batch,tp,pp,cp,recompute,precision,"
    "tokens_s_gpu,framework,source";

Row row_from(Cells& cell) {
  Row row;
  cell(row.model);
  for (int64_t* member : {&row.dim, &row.layers, &row.ffn}) cell(*member);
  cell(row.hardware);
  for (int64_t* member : {&row.ranks, &row.seq_len, &row.micro_batch, &row.tp, &row.pp, &row.cp})
    cell(*member);
  cell(row.recompute);
  cell(row.precision);
  cell(row.tokens_per_second_per_rank);
  cell(row.framework);
  cell(row.source);
  return row;
}

}  // namespace

Result<std::vector<Row>> read_rows(std::string_view table) {
  return read_table<Row>(table, kRowsHeader, row_from);
}

}  // namespace heddle::published
