//! Blocks that can be emitted as Verilog by name.

use optireduce_hw::card;
use optireduce_hw::card::build::Build;
use optireduce_hw::card::endpoint::Endpoint;
use optireduce_hw::card::smartnic::SmartNic;
use optireduce_hw::cosim;
use optireduce_hw::hadamard;
use optireduce_hw::hdl::prelude::*;
use optireduce_hw::hdl::stack::on_a_large_stack;

pub struct Emittable {
    pub name: &'static str,
    build: fn() -> String,
}

impl Emittable {
    /// Returns the block's Verilog, with top module `top`.
    pub fn verilog(&self) -> String {
        on_a_large_stack(self.build)
    }

    /// Returns the block with memories for the smallest windows, if it has any.
    pub fn small(&self) -> Option<&'static Emittable> {
        SMALL.iter().find(|block| block.name == self.name)
    }
}

/// Returns the Verilog of a card behind AXI, with top module `top`.
///
/// # Panics
/// If the parameters are not compatible, see [`Build::checked`].
pub fn endpoint(build: Build) -> String {
    on_a_large_stack(move || of_built(Box::new(Endpoint::new(build))))
}

/// Returns the card without AXI, receive filter and UDP checksums, as [`endpoint`] does.
pub fn smartnic(build: Build) -> String {
    on_a_large_stack(move || of_built(Box::new(SmartNic::new(build))))
}

pub(crate) fn of<B: Block + Default>() -> String {
    of_built(Box::<B>::default())
}

pub(crate) fn of_built<B: Block>(mut block: Box<B>) -> String {
    block.connect_all();
    cosim::verilog(block.as_ref())
}

/// All blocks. The larger ones follow the blocks they contain.
pub const BLOCKS: &[Emittable] = &[
    Emittable { name: "fp_add", build: of::<optireduce_hw::arith::fp_add::FpAdd> },
    Emittable { name: "fp_add16", build: of::<optireduce_hw::arith::fp_add::FpAdd16> },
    Emittable { name: "fp_mul", build: of::<optireduce_hw::arith::fp_mul::FpMul> },
    Emittable { name: "fp_mul16", build: of::<optireduce_hw::arith::fp_mul::FpMul16> },
    Emittable { name: "fp32_to_int32", build: of::<optireduce_hw::arith::fp_to_int::FpToInt> },
    Emittable { name: "int32_to_fp32", build: of::<optireduce_hw::arith::int_to_fp::IntToFp> },
    Emittable { name: "reciprocal", build: of::<card::reciprocal::Reciprocal> },
    Emittable { name: "hadamard_to_fixed", build: of::<hadamard::to_fixed::ToFixed> },
    Emittable { name: "hadamard_in_beat", build: || of_built(Box::new(hadamard::in_beat::InBeat::new(false))) },
    Emittable { name: "hadamard_in_beat_halving", build: || of_built(Box::new(hadamard::in_beat::InBeat::new(true))) },
    Emittable { name: "hadamard_across", build: || of_built(Box::new(hadamard::across::Across::new(7))) },
    Emittable { name: "hadamard_value_by_value", build: of::<hadamard::value_by_value::ValueByValue> },
    Emittable { name: "hadamard_to_float", build: of::<hadamard::to_float::ToFloat> },
    Emittable { name: "hadamard_gather", build: || of_built(Box::new(hadamard::gather::Gather::new(12))) },
    Emittable { name: "hadamard_signs", build: of::<hadamard::signs::Signs> },
    Emittable { name: "hadamard", build: of::<hadamard::Hadamard> },
    Emittable { name: "hadamard_256", build: || of_built(Box::new(hadamard::Hadamard::new(8))) },
    Emittable { name: "frame_sum", build: of::<card::frame_sum::FrameSum> },
    Emittable { name: "rx_buffer", build: of::<card::rx_buffer::RxBuffer> },
    Emittable { name: "rx_checksum", build: of::<card::rx_checksum::RxChecksum> },
    Emittable { name: "job_copy", build: of::<card::job_copy::JobCopy> },
    Emittable { name: "rx_filter", build: of::<card::rx_filter::RxFilter> },
    Emittable { name: "rx_parser", build: of::<card::rx_parser::RxParser> },
    Emittable { name: "lookup", build: of::<card::lookup::Lookup> },
    Emittable { name: "stage_gates", build: of::<card::stage_gates::StageGates> },
    Emittable { name: "arrivals", build: of::<card::arrivals::Arrivals> },
    Emittable { name: "reduce", build: of::<card::reduce::Reduce> },
    Emittable { name: "scale", build: of::<card::scale::Scale> },
    Emittable { name: "gather", build: of::<card::gather::Gather> },
    Emittable { name: "contribute", build: of::<card::contribute::Contribute> },
    Emittable { name: "pacer", build: of::<card::pacer::Pacer> },
    Emittable { name: "planner", build: of::<card::planner::Planner> },
    Emittable { name: "builder", build: of::<card::builder::Builder> },
    Emittable { name: "dma_read", build: of::<card::dma_read::DmaRead> },
    Emittable { name: "dma_write", build: of::<card::dma_write::DmaWrite> },
    Emittable { name: "drain", build: of::<card::drain::Drain> },
    Emittable { name: "msix", build: of::<card::msix::Msix> },
    Emittable { name: "reset", build: of::<card::reset::Reset> },
    Emittable { name: "tx_guard", build: of::<card::tx_guard::TxGuard> },
    Emittable { name: "card_state", build: of::<card::card_state::CardState> },
    Emittable { name: "responder", build: of::<card::responder::Responder> },
    Emittable { name: "tx_merge", build: of::<card::tx_merge::TxMerge> },
    Emittable { name: "tx_checksum", build: of::<card::tx_checksum::TxChecksum> },
    Emittable { name: "submission", build: of::<card::submission::Submit> },
    Emittable { name: "finisher", build: of::<card::finisher::Finisher> },
    Emittable { name: "registers", build: of::<card::registers::Registers> },
    Emittable { name: "axi_lite", build: of::<card::axi_lite::AxiLite> },
    Emittable { name: "smartnic", build: of::<card::smartnic::SmartNic> },
    Emittable { name: "checked_nic", build: of::<card::checked_nic::CheckedNic> },
    Emittable { name: "endpoint", build: of::<card::endpoint::Endpoint> },
];

const SMALLEST: Build = Build { window_log2: 7, hadamard_log2: 8 };

/// Blocks of [`BLOCKS`] for the smallest windows.
const SMALL: &[Emittable] = &[
    Emittable { name: "reduce", build: || of_built(Box::new(card::reduce::Reduce::new(SMALLEST))) },
    Emittable { name: "gather", build: || of_built(Box::new(card::gather::Gather::new(SMALLEST))) },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_emits_a_top_module_with_its_clock() {
        for block in BLOCKS {
            let verilog = block.verilog();
            let top = verilog.find("module top(").unwrap_or_else(|| panic!("{}: no top module", block.name));
            let ports = &verilog[top..top + verilog[top..].find(';').expect("a port list ends")];
            assert!(ports.contains("clock"), "{}: {ports}", block.name);
        }
    }
}
