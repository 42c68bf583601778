#include "engine/recipe/data_fields.h"

#include "engine/recipe/fields.h"
#include "engine/recipe/limits.h"
#include "engine/recipe/members.h"

namespace heddle::recipe {
namespace {

const Numbers kLessThanAll = {0, 1, false, true, "0 or more and less than 1"};

std::optional<MixPart> read_mix_part(const toml::node& node, const std::string& valid,
                                     const Complain& complain) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    complain_of_type(complain, node, valid);
    return std::nullopt;
  }
  MixPart part;
  bool sound = true;
  for (const auto& [key, value] : *table) {
    if (key == "text" && complain_of_address(complain, value)) {
      sound = false;
    } else if (key == "text") {
      const auto text = read_strings(value, complain);
      sound &= text.has_value();
      if (text) part.text = *text;
    } else if (key == "weight") {
      const auto weight = read_number(value, kPositive, complain);
      sound &= weight.has_value();
      if (weight) part.weight = *weight;
    } else {
      complain(value, fmt::format("unknown key {}", key.str()),
               joined(member_names("data.mix"), ", "),
               nearest(key.str(), member_names("data.mix")));
      sound = false;
    }
  }
  if (sound && part.text.empty()) {
    complain(node, "no texts are named", valid, "");
    return std::nullopt;
  }
  return sound ? std::optional(std::move(part)) : std::nullopt;
}

Field mix_field() {
  const std::string valid = "tables as in { text = [\"web/\"], weight = 0.7 }";
  return {{"data.mix", "list", "", valid},
          [valid](const toml::node& node, Recipe& recipe, const Complain& complain) {
            const toml::array* array = node.as_array();
            if (array == nullptr) {
              complain_of_type(complain, node, "a list of tables", valid);
              return;
            }
            std::vector<MixPart> mix;
            for (const toml::node& element : *array) {
              auto part = read_mix_part(element, valid, complain);
              if (!part) return;
              mix.push_back(std::move(*part));
            }
            recipe.data.mix = std::move(mix);
          },
          [](const Recipe& recipe) {
            std::vector<std::string> all;
            for (const MixPart& part : recipe.data.mix)
              all.push_back(fmt::format("{{ text = {}, weight = {} }}", strings_text(part.text),
                                        number_text(part.weight)));
            return fmt::format("[{}]", joined(all, ", "));
          }};
}

}  // namespace

std::vector<Field> data_fields() {
  using R = Recipe;
  return {
      strings("data.text", &R::data, &Data::text, kTexts)
          .says("text", "",
                "What is trained on: files, and folders of them, without what is hidden there and "
                "links that "
                "lead out.")
          .often()
          .files(kTextFiles)
          .zero("files or folders"),
      mix_field().says("mix", "",
                       "Instead of text: several texts, each sample from one of them, by chance "
                       "with their weights. Each is read in an order of its own."),
      text("data.token_ids", &R::data, &Data::token_ids, "a file of tokens, \"\" for none")
          .says("token ids", "",
                "Instead of text: input_ids [steps, batch, seq_len + 1] of a safetensors file, fed "
                "as "
                "they are; or a .npy, .u16 or .u32, or Megatron's or llm.c's .bin, cut and "
                "shuffled as "
                "text is.")
          .files("*.safetensors *.npy *.u16 *.u32 *.bin")
          .zero("none: text is read"),
      text("data.cache", &R::data, &Data::cache, "a folder, \"\" for this host's own")
          .says("token cache", "",
                "Where tokens of texts are kept, so that a text is tokenized once for all runs; "
                "none: in the cache folder of the host that runs. Nobody else may be able to write "
                "there.")
          .files("/")
          .zero("the host's own"),
      text("data.field", &R::data, &Data::field, "a name")
          .says("field", "", "Which member of a JSON document, or column of Parquet, is its text."),
      number("data.skip_limit", &R::data, &Data::skip_limit, kFraction)
          .says("skip at most", "of all documents",
                "Documents that cannot be read are skipped, up to this share; more end the run."),
      text("data.tokenizer", &R::data, &Data::tokenizer, "a tokenizer.json")
          .says("tokenizer", "", "The tokenizer of the model, as Hugging Face writes it.")
          .often()
          .files("*.json")
          .zero("a tokenizer.json"),
      text("data.bos", &R::data, &Data::bos, "a token, \"none\", \"\" for the tokenizer's")
          .says("bos", "", "The token before each document; empty: what the tokenizer's files say.")
          .zero("the tokenizer's"),
      text("data.eos", &R::data, &Data::eos, "a token, \"none\", \"\" for the tokenizer's")
          .says("eos", "", "The token after each document; empty: what the tokenizer's files say.")
          .zero("the tokenizer's"),
      integer("data.max_documents", &R::data, &Data::max_documents, 0)
          .says("first documents", "", "Only so many of each text's documents are read; 0: all.")
          .zero("all")
          .steps(Step::doubling),
      number("data.held_out", &R::data, &Data::held_out, kLessThanAll)
          .says("held out", "of all documents",
                "Documents that are not trained on: validation reads them, where it has no text of "
                "its own. Which ones follows from what they hold (of a text file, from its name)."),
      integer("data.seq_len", &R::data, &Data::seq_len, 1, kMaxTokens)
          .says("sequence", "tokens", "Length of each sequence.")
          .often()
          .steps(Step::doubling)
          .graph(),
      boolean("data.document_mask", &R::data, &Data::document_mask)
          .says("doc mask", "", "Attention stays within a document where several share a sequence.")
          .graph(),
      integer("data.seed", &R::data, &Data::seed, 0)
          .says("shuffle seed", "", "Order of the sequences.")
          .steps(Step::one)};
}

}  // namespace heddle::recipe
