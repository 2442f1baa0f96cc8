//! Verilated model in this process: the only unsafe code of the crate.
//!
//! `verilated.cpp` defines the signatures repeated here. A library stays loaded until the process
//! ends.
#![allow(unsafe_code)]

use libloading::Library;
use std::error::Error;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;

/// Instance of a Verilated module with ports `clock`, `inputs` and `outputs`.
pub(crate) struct Model {
    instance: NonNull<c_void>,
    eval: unsafe extern "C" fn(NonNull<c_void>, u8, *const u32, *mut u32),
    close: unsafe extern "C" fn(NonNull<c_void>),
    inputs: Box<[u32]>,
    outputs: Box<[u32]>,
}

// SAFETY: an instance owns its `VerilatedContext`, shares no mutable state with other instances,
// and is not bound to a thread. `&mut self` in `eval` prevents concurrent calls.
unsafe impl Send for Model {}

impl Model {
    /// Loads a library and creates a model at power-on, not yet evaluated.
    ///
    /// # Errors
    /// If the file is missing, is not a library, or was not built from `verilated.cpp`.
    pub(crate) fn load(library: &Path) -> Result<Self, String> {
        Self::try_load(library).map_err(|error| error.source().map_or(error.to_string(), ToString::to_string))
    }

    fn try_load(library: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: `replay::compile` built the file from `verilated.cpp` and the Verilog of a block.
        // Its initialisers belong to Verilator's runtime and access only its own globals.
        let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(library) }?));
        // SAFETY: the types match the definitions in `verilated.cpp`, whose contents are part of
        // the hash in the file name. The library is never unloaded, so the functions stay valid.
        unsafe {
            let open = library.get::<unsafe extern "C" fn() -> NonNull<c_void>>(b"cosim_open\0")?;
            let input_words = library.get::<unsafe extern "C" fn() -> usize>(b"cosim_input_words\0")?;
            let output_words = library.get::<unsafe extern "C" fn() -> usize>(b"cosim_output_words\0")?;
            Ok(Model {
                eval: *library.get(b"cosim_eval\0")?,
                close: *library.get(b"cosim_close\0")?,
                inputs: vec![0; input_words()].into(),
                outputs: vec![0; output_words()].into(),
                // Last, so that no early return leaks an instance. `cosim_open` never returns null:
                // it aborts when out of memory.
                instance: open(),
            })
        }
    }

    pub(crate) fn inputs(&mut self) -> &mut [u32] {
        &mut self.inputs
    }

    pub(crate) fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Evaluates the model. A rising `clock` level is an edge.
    pub(crate) fn eval(&mut self, clock: bool) {
        // SAFETY: `instance` came from `cosim_open` and is closed only in `drop`. Both rows have
        // the lengths that the library reported in `load` and cannot be replaced from outside. The
        // library keeps no pointer.
        unsafe { (self.eval)(self.instance, clock.into(), self.inputs.as_ptr(), self.outputs.as_mut_ptr()) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: `instance` came from `cosim_open` and is not used after this.
        unsafe { (self.close)(self.instance) }
    }
}
