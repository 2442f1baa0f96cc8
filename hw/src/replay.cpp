// Replays a trace on the module `cosim` (see replay.rs): cosim <trace> <input words> <words a row>.
// Prints "same <rows>"; or "differs <row> <words of the row as found>" at the first row whose outputs differ; or
// "falling <row>" when outputs change at the falling edge, which nothing on the card may listen to.
#include "Cosim.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 4) return std::fprintf(stderr, "usage: cosim <trace> <input words> <words a row>\n"), 2;
    const size_t input_words = std::strtoul(argv[2], nullptr, 10), row_words = std::strtoul(argv[3], nullptr, 10);
    std::FILE* trace = std::fopen(argv[1], "rb");
    if (!trace) return std::perror(argv[1]), 2;
    const auto context = std::make_unique<VerilatedContext>();
    context->randReset(2);  // registers without an initial value start at random
    context->randSeed(1);
    const auto card = std::make_unique<Cosim>(context.get());
    if (sizeof card->inputs < 4 * input_words || sizeof card->outputs < 4 * (row_words - input_words))
        return std::fprintf(stderr, "the rows are wider than the ports\n"), 2;
    std::memset(&card->inputs, 0, sizeof card->inputs);
    card->clock = 0;
    std::vector<uint32_t> row(row_words);
    size_t rows = 0;
    for (; std::fread(row.data(), 4, row_words, trace) == row_words; ++rows) {
        const uint32_t* expected = row.data() + input_words;
        std::memcpy(&card->inputs, row.data(), 4 * input_words);
        card->eval();
        if (std::memcmp(&card->outputs, expected, 4 * (row_words - input_words))) {
            std::memcpy(&row[input_words], &card->outputs, 4 * (row_words - input_words));
            std::printf("differs %zu", rows);
            for (uint32_t word : row) std::printf(" %u", word);
            return std::printf("\n"), 1;
        }
        card->clock = 1;
        card->eval();
        const auto risen = card->outputs;
        card->clock = 0;
        card->eval();
        if (std::memcmp(&card->outputs, &risen, sizeof risen)) return std::printf("falling %zu\n", rows), 1;
    }
    std::printf("same %zu\n", rows);
    return 0;
}
