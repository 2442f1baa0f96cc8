// A Verilated module `cosim` (see replay.rs) behind four C functions (see verilated.rs).
#include "Cosim.h"
#include "verilated.h"
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#define EXPORT extern "C" __attribute__((visibility("default")))

struct Model {
    VerilatedContext context;
    std::unique_ptr<Cosim> top;
};

EXPORT size_t cosim_input_words() { return sizeof(Cosim::inputs) / 4; }

EXPORT size_t cosim_output_words() { return sizeof(Cosim::outputs) / 4; }

// A model at power-on.
EXPORT Model* cosim_open() noexcept {
    auto model = std::make_unique<Model>();
    model->context.randReset(2);  // registers without an initial value start at random
    model->context.randSeed(1);
    model->top = std::make_unique<Cosim>(&model->context);
    return model.release();
}

EXPORT void cosim_eval(Model* model, uint8_t clock, const uint32_t* inputs, uint32_t* outputs) noexcept {
    model->top->clock = clock;
    std::memcpy(&model->top->inputs, inputs, sizeof model->top->inputs);
    model->top->eval();
    std::memcpy(outputs, &model->top->outputs, sizeof model->top->outputs);
}

EXPORT void cosim_close(Model* model) noexcept { delete model; }
