//! A Verilated model in this process: the only unsafe code of the crate.
//!
//! The shared library is built by [`super::replay`] from `verilated.cpp`, whose signatures are repeated here. A library
//! stays loaded until the process ends.
#![allow(unsafe_code)]

use libloading::Library;
use std::error::Error;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;

/// One instance of a Verilated module with ports `clock`, `inputs` and `outputs`.
pub(crate) struct Model {
    instance: NonNull<c_void>,
    eval: unsafe extern "C" fn(NonNull<c_void>, u8, *const u32, *mut u32),
    close: unsafe extern "C" fn(NonNull<c_void>),
    inputs: Box<[u32]>,
    outputs: Box<[u32]>,
}

// SAFETY: an instance has a `VerilatedContext` of its own, shares no mutable state with others, and is bound to no
// thread; `&mut self` in `eval` keeps two threads from running it at once.
unsafe impl Send for Model {}

impl Model {
    /// Loads a library and makes a model at power-on, not yet evaluated.
    ///
    /// # Errors
    /// What the loader says: no such file, not a library, or not made from `verilated.cpp`.
    pub(crate) fn load(library: &Path) -> Result<Self, String> {
        Self::try_load(library).map_err(|error| error.source().map_or(error.to_string(), ToString::to_string))
    }

    fn try_load(library: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: the file is one that `replay::compile` has built from `verilated.cpp` and the Verilog of a block;
        // its initialisers are those of Verilator's runtime, which touch nothing but its own globals.
        let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(library) }?));
        // SAFETY: the types are those of the definitions in `verilated.cpp`, which is part of this crate and of the
        // library's file name; the library is never unloaded, so the functions are there as long as the process.
        unsafe {
            let open = library.get::<unsafe extern "C" fn() -> NonNull<c_void>>(b"cosim_open\0")?;
            let input_words = library.get::<unsafe extern "C" fn() -> usize>(b"cosim_input_words\0")?;
            let output_words = library.get::<unsafe extern "C" fn() -> usize>(b"cosim_output_words\0")?;
            Ok(Model {
                eval: *library.get(b"cosim_eval\0")?,
                close: *library.get(b"cosim_close\0")?,
                inputs: vec![0; input_words()].into(),
                outputs: vec![0; output_words()].into(),
                // Last, so that no early return loses an instance. Never null: it aborts when out of memory.
                instance: open(),
            })
        }
    }

    /// The row of inputs.
    pub(crate) fn inputs(&mut self) -> &mut [u32] {
        &mut self.inputs
    }

    /// The row of outputs as of the last [`eval`](Model::eval).
    pub(crate) fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Lets inputs and clock level reach the outputs; a level that rises is an edge.
    pub(crate) fn eval(&mut self, clock: bool) {
        // SAFETY: `instance` came from `cosim_open` and is closed only in `drop`; both rows have the lengths that the
        // library gave for its ports in `load`, and cannot be replaced from outside; the library keeps no pointer.
        unsafe { (self.eval)(self.instance, clock.into(), self.inputs.as_ptr(), self.outputs.as_mut_ptr()) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: `instance` came from `cosim_open`, and nothing uses it after this.
        unsafe { (self.close)(self.instance) }
    }
}
