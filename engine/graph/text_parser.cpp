// Text form to graph: a line at a time, by hand-written descent.
#include <ATen/ops/scalar_tensor.h>

#include <cctype>
#include <charconv>
#include <unordered_map>

#include "base/budget.h"
#include "engine/graph/infer.h"
#include "engine/graph/operators.h"
#include "engine/graph/text.h"
#include "engine/graph/trace_device.h"

namespace heddle::graph {
namespace {

// Reads tokens of one line. `failed` says what was expected where; the first failure wins.
class Line {
 public:
  Line(std::string_view text, std::string place) : text_(text), place_(std::move(place)) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  bool done() {
    skip_space();
    return at_ >= text_.size();
  }
  void failed(const std::string& what) {
    if (error_.empty()) error_ = fmt::format("{}:{}: {}", place_, at_ + 1, what);
  }

  bool accept(std::string_view token) {
    const size_t before = at_;
    skip_space();
    if (text_.substr(at_, token.size()) != token) {
      at_ = before;
      return false;
    }
    at_ += token.size();
    return true;
  }
  // A whole line of this word.
  bool accept_word(std::string_view word) {
    const size_t before = at_;
    if (accept(word) && done()) return true;
    at_ = before;
    return false;
  }
  void expect(std::string_view token) {
    if (!accept(token)) failed(fmt::format("expected \"{}\" at \"{}\"", token, rest()));
  }
  std::string word(std::string_view extra = "._") {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_], extra)) ++at_;
    if (at_ == begin) failed(fmt::format("expected a name at \"{}\"", rest()));
    return std::string(text_.substr(begin, at_ - begin));
  }
  // Words of one name, as in "pp stage 0 to 1", with one blank between them.
  std::string words() {
    std::string name = word("._-");
    while (ok() && !done() && is_name(text_[at_], "._-")) name += ' ' + word("._-");
    return name;
  }
  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const auto [end, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) failed(fmt::format("expected a whole number at \"{}\"", rest()));
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  std::string remainder() {
    skip_space();
    std::string result(rest());
    at_ = text_.size();
    return result;
  }
  // The token of a number, as in -1.5e-3 (also inf and nan).
  std::string number_token() {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
            std::string_view("+-.").find(text_[at_]) != std::string_view::npos))
      ++at_;
    if (begin == at_) failed(fmt::format("expected a number at \"{}\"", rest()));
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string quoted() {
    expect("\"");
    const size_t end = text_.find('"', at_);
    if (end == std::string_view::npos) {
      failed("the string has no end");
      return {};
    }
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

 private:
  static bool is_name(char c, std::string_view extra) {
    return std::isalnum(static_cast<unsigned char>(c)) || extra.find(c) != std::string_view::npos;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::string_view rest() const { return text_.substr(at_); }

  std::string_view text_;
  std::string place_;
  size_t at_ = 0;
  std::string error_;
};

class Parser {
 public:
  explicit Parser(std::string file) : file_(std::move(file)) {}

  Result<Graph> parse(std::string_view text) {
    announce(text);
    const bool cut_in_line = !text.ends_with('\n');
    int number = 0;
    bool header = false;
    while (!text.empty()) {
      const std::string_view line = next_line(text);
      Line reader(line, fmt::format("{}:{}", file_, ++number));
      if (reader.done()) continue;
      if (!header) {
        header = reader.accept("heddle graph 1");
        if (!header)
          return fail("{}:{}: not a graph: the first line must be \"heddle graph 1\"", file_,
                      number);
        continue;
      }
      if (ended_) return fail("{}:{}: the graph ended at the line \"end\" before", file_, number);
      statement(reader);
      if (reader.ok() && !reader.done())
        reader.failed(fmt::format("unexpected \"{}\"", reader.remainder()));
      if (!reader.ok() && text.empty() && cut_in_line) break;  // half a line
      if (!reader.ok()) return tl::unexpected(Error{reader.error()});
    }
    if (!header) return fail("{}: the graph is empty", file_);
    if (!ended_)
      return fail(
          "{}:{}: the graph is cut short after {} nodes; valid: the whole text, which ends with "
          "the "
          "line \"end\"",
          file_, number, graph_.nodes.size());
    return std::move(graph_);
  }

 private:
  using Outputs = std::vector<std::pair<int64_t, Value>>;  // by number

  // The next line without its comment; `text` is what follows.
  static std::string_view next_line(std::string_view& text) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    return line.substr(0, line.find('#'));
  }

  // The parser reads a line that makes something for the next step ahead of its turn. It reports
  // a fault in such a line when the turn comes.
  void announce(std::string_view text) {
    while (!text.empty()) {
      std::string_view line = next_line(text);
      line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
      if (!line.ends_with("next_step")) continue;
      Line reader(line, file_);
      for (const auto& [number, value] : made(reader)) {
        if (number == kNoValue || !reader.ok() || announced_.contains(number)) continue;
        announced_.emplace(number, graph_.add_value(value.sizes, value.dtype));
      }
    }
    ids_ = announced_;
  }

  // "%1: f32[2], none = ", or nothing where a node makes nothing.
  Outputs made(Line& line) {
    Outputs outputs;
    if (line.peek() != '%' && line.peek() != 'n') return outputs;
    do {
      if (line.accept("none")) {
        outputs.emplace_back(kNoValue, Value{});
        continue;
      }
      line.expect("%");
      const int64_t number = line.integer();
      line.expect(":");
      outputs.emplace_back(number, type(line));
    } while (line.ok() && line.accept(","));
    line.expect("=");
    return outputs;
  }

  void statement(Line& line) {
    if (line.accept("note ")) {
      const std::string key = line.word("._-");
      line.expect("=");
      graph_.notes[key] = line.remainder();
    } else if (line.accept("group ")) {
      const std::string name = line.words();
      line.expect("=");
      graph_.groups[name] = line.integer();
      if (graph_.groups[name] < 1) line.failed("a group has 1 rank or more");
    } else if (line.accept("micro_batches")) {
      line.expect("=");
      graph_.micro_batches = line.integer();
      if (graph_.micro_batches < 1) line.failed("a step has 1 micro-batch or more");
    } else if (line.accept("input ")) {
      binding(line, graph_.inputs);
    } else if (line.accept("state ")) {
      binding(line, graph_.states);
    } else if (line.accept("output ")) {
      const Use use = read(line);
      line.expect(":");
      type(line);
      graph_.outputs.push_back({line.word("._-"), use.value});
    } else if (line.accept_word("end")) {
      ended_ = true;
    } else if (line.accept_word("forward")) {
      phase_ = Phase::forward;
    } else if (line.accept_word("backward")) {
      phase_ = Phase::backward;
    } else if (line.accept_word("optimizer")) {
      phase_ = Phase::optimizer;
    } else {
      node(line);
    }
  }

  Value type(Line& line) {
    const std::string name = line.word("");
    Value value;
    if (const auto dtype = dtype_of(name)) {
      value.dtype = *dtype;
    } else {
      line.failed(fmt::format(
          "unknown type \"{}\"; valid: f32 f64 bf16 f16 e4m3 e5m2 i64 i32 u8 i8 bool", name));
    }
    line.expect("[");
    const std::vector<int64_t> sizes = integers(line);
    int64_t numbers = 1;
    for (const int64_t size : sizes) {
      if (size < 0) line.failed(fmt::format("{} is no size; valid: 0 or more", size));
      if (__builtin_mul_overflow(numbers, size, &numbers) || numbers > kMaxNumbers)
        line.failed(fmt::format("more numbers than can be; valid: {} or fewer", kMaxNumbers));
    }
    value.sizes = sizes;
    return value;
  }

  // The rest of a list, "1, 2]".
  static std::vector<int64_t> integers(Line& line) {
    std::vector<int64_t> list;
    while (line.ok() && !line.accept("]")) {
      if (!list.empty()) line.expect(",");
      list.push_back(line.integer());
    }
    return list;
  }

  // Numbers in the text are names: an edit may leave gaps or use any order.
  // `value` may be one of graph_.values, which move as they grow.
  ValueId define(Line& line, int64_t number, Value value) {
    if (const auto announced = announced_.find(number); announced != announced_.end()) {
      const ValueId id = announced->second;
      announced_.erase(announced);
      graph_.values[id].strides = value.strides;
      return id;
    }
    const ValueId id = graph_.add_value(value.sizes, value.dtype);
    graph_.values[id].strides = value.strides;
    if (!ids_.emplace(number, id).second) line.failed(fmt::format("%{} is defined twice", number));
    return id;
  }

  void binding(Line& line, std::vector<Binding>& bindings) {
    line.expect("%");
    const int64_t number = line.integer();
    line.expect(":");
    const Value value = type(line);
    const ValueId id = define(line, number, value);
    bindings.push_back({line.word("._-@"), id});
  }

  Use read(Line& line) {
    if (line.accept("none")) return {};
    line.expect("%");
    const int64_t number = line.integer();
    const auto known = ids_.find(number);
    if (known == ids_.end()) {
      line.failed(fmt::format("%{} is read before it is defined", number));
      return {};
    }
    Use use{known->second, kNoValue};
    if (line.accept("->")) {
      line.expect("%");
      use.written = define(line, line.integer(), graph_.values[use.value]);
    }
    return use;
  }

  void node(Line& line) {
    Node node;
    node.phase = phase_;
    Outputs outputs = made(line);  // defined only after the arguments were read
    node.op = line.word();
    const auto op = line.ok() ? find_operator(node.op) : std::nullopt;
    if (!op) {
      line.failed(fmt::format("there is no operator \"{}\"", node.op));
      return;
    }
    if (!node.op.has_entry()) {
      line.failed(fmt::format("{} is not in the table of operators: no step has it", node.op));
      return;
    }
    line.expect("(");
    if (!line.ok()) return;
    arguments(line, op->schema(), node);
    if (line.ok() && line.accept("@")) node.module = line.word("._-+");
    if (line.accept("stage ")) node.stage = static_cast<int32_t>(line.integer());
    node.weights_only = line.accept("weights_only");
    if (line.accept("micro_batch ")) node.micro_batch = static_cast<int32_t>(line.integer());
    node.next_step = line.accept("next_step");
    if (line.ok()) results(line, node, outputs);
    for (const auto& [number, value] : outputs)
      node.outputs.push_back(number == kNoValue ? kNoValue : define(line, number, value));
    graph_.nodes.push_back(std::move(node));
  }

  // Checks them against what the operator makes, which tells their strides as well.
  void results(Line& line, const Node& node, Outputs& outputs) {
    const auto made = infer_results(graph_, node);
    if (!made) {
      line.failed(made.error().message);
      return;
    }
    if (made->size() != outputs.size()) {
      line.failed(
          fmt::format("{} makes {} results, not {}", node.op, made->size(), outputs.size()));
      return;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto& [number, value] = outputs[i];
      if (number == kNoValue) continue;
      const Value& is = (*made)[i];
      if (is.sizes != value.sizes || is.dtype != value.dtype)
        line.failed(fmt::format("{} makes %{} {}, not {}", node.op, number, type_text(is),
                                type_text(value)));
      value.strides = is.strides;
    }
  }

  void arguments(Line& line, const c10::FunctionSchema& schema, Node& node) {
    const auto& declared = schema.arguments();
    std::vector<bool> given(declared.size(), false);
    std::vector<Arg> args(declared.size());
    size_t next_tensor = 0;
    bool first = true;
    while (line.ok() && !line.accept(")")) {
      if (!std::exchange(first, false)) line.expect(",");
      const char begin = line.peek();
      if (begin == '%' || begin == '[' || begin == 'n' || begin == 's') {
        // A name such as "scale=" also begins with s or n: only a tensor is positional.
        Line before = line;
        const std::string word = begin == 'n' || begin == 's' ? line.word() : "";
        if (word.empty() || word == "none" || word == "scalar") {
          line = before;
          while (next_tensor < declared.size() && !takes_tensors(declared[next_tensor]))
            ++next_tensor;
          if (next_tensor == declared.size()) {
            line.failed(fmt::format("{} takes fewer tensors", node.op));
            return;
          }
          args[next_tensor] = tensor_argument(line);
          given[next_tensor++] = true;
          continue;
        }
        line = before;
      }
      const std::string name = line.word("_");
      const auto index = schema.argumentIndexWithName(name);
      if (!index) {
        line.failed(fmt::format("{} has no argument \"{}\"", node.op, name));
        return;
      }
      line.expect("=");
      args[*index] = constant(line, declared[*index].type());
      given[*index] = true;
    }
    for (size_t i = 0; i < declared.size() && line.ok(); ++i) {
      if (given[i]) continue;
      if (declared[i].default_value()) {
        args[i] = *declared[i].default_value();
      } else {
        line.failed(fmt::format("{} needs its argument \"{}\"", node.op, declared[i].name()));
      }
    }
    node.args = without_defaults(schema, std::move(args));
  }

  Arg tensor_argument(Line& line) {
    if (line.accept("[")) {
      Uses uses;
      while (line.ok() && !line.accept("]")) {
        if (!uses.empty()) line.expect(",");
        uses.push_back(read(line));
      }
      return uses;
    }
    if (line.accept("scalar(")) {
      const at::Scalar value = number(line, /*fraction=*/false);
      const std::string name = line.word("");
      const auto dtype = dtype_of(name);
      if (!dtype) line.failed(fmt::format("unknown type \"{}\"", name));
      at::Tensor scalar;
      try {
        scalar = at::scalar_tensor(value, at::TensorOptions(dtype.value_or(c10::kFloat)));
      } catch (const std::exception&) {  // too large for it
        line.failed(fmt::format("a number that {} does not hold", name));
        return {};
      }
      scalar.unsafeGetTensorImpl()->set_wrapped_number(!line.accept("typed"));
      line.expect(")");
      return c10::IValue(scalar);
    }
    return read(line);
  }

  c10::IValue constant(Line& line, const c10::TypePtr& type) {
    if (const auto optional = type->cast<c10::OptionalType>()) {
      if (line.accept("none")) return {};
      return constant(line, optional->getElementType());
    }
    if (line.accept("true")) return true;
    if (line.accept("false")) return false;
    if (line.accept("none")) return {};
    if (line.peek() == '"') return line.quoted();
    if (line.accept("[")) return list(line, type);
    if (type->kind() == c10::TypeKind::ScalarTypeType) {
      const std::string name = line.word("");
      const auto dtype = dtype_of(name);
      if (!dtype) line.failed(fmt::format("unknown type \"{}\"", name));
      return static_cast<int64_t>(dtype.value_or(c10::kFloat));
    }
    if (type->kind() == c10::TypeKind::DeviceObjType) {
      line.expect("device");
      return kTraceDevice;
    }
    return number(line, type->kind() == c10::TypeKind::FloatType);
  }

  // A whole number where it has neither point nor exponent, unless it is to be a `fraction`.
  static at::Scalar number(Line& line, bool fraction) {
    const std::string token = line.number_token();
    if (!fraction && token.find_first_of(".en") == std::string::npos) {
      int64_t value = 0;
      const char* end = token.data() + token.size();
      const auto [read, status] = std::from_chars(token.data(), end, value);
      if (status != std::errc() || read != end)
        line.failed(fmt::format("\"{}\" is not a whole number of 64 bits", token));
      return value;
    }
    char* end = nullptr;
    const double value = std::strtod(token.c_str(), &end);
    if (end != token.c_str() + token.size())
      line.failed(fmt::format("\"{}\" is not a number", token));
    return value;
  }

  c10::IValue list(Line& line, const c10::TypePtr& type) {
    const auto list_type = type->cast<c10::ListType>();
    const bool of_numbers =
        list_type && list_type->getElementType()->kind() == c10::TypeKind::FloatType;
    std::vector<double> numbers;
    std::vector<int64_t> integers;
    bool first = true;
    while (line.ok() && !line.accept("]")) {
      if (!std::exchange(first, false)) line.expect(",");
      if (of_numbers) {
        numbers.push_back(std::strtod(line.number_token().c_str(), nullptr));
      } else {
        integers.push_back(line.integer());
      }
    }
    return of_numbers ? c10::IValue(numbers) : c10::IValue(integers);
  }

  std::string file_;
  Graph graph_;
  Phase phase_ = Phase::forward;
  std::unordered_map<int64_t, ValueId> ids_;
  std::unordered_map<int64_t, ValueId> announced_;  // those whose line has not come yet
  bool ended_ = false;
};

}  // namespace

Result<Graph> parse_text(std::string_view text, const std::string& file) {
  return Parser(file).parse(text);
}

}  // namespace heddle::graph
