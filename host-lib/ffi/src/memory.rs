//! Memory of a communicator from `optr_alloc`, which all-reduces use without copies.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::binding::{Destination, Values};

use crate::raw::{InUse, Input, Output, Region};
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_BUSY;

/// Regions by their first address.
#[derive(Debug, Default)]
pub struct Memory {
    regions: Mutex<BTreeMap<usize, Arc<Region>>>,
}

impl Memory {
    pub fn allocate(&self, bytes: usize) -> Result<*mut u8, Failure> {
        if bytes == 0 {
            return Err(Failure::argument("bytes", 0, "at least 1"));
        }
        let region = Arc::new(Region::new(bytes)?);
        let start = region.pointer();
        self.regions().insert(region.start(), region);
        Ok(start)
    }

    /// Removes a region. Collectives in progress keep it until they are done.
    pub fn free(&self, address: usize) -> Result<(), Failure> {
        let freed = self.regions().remove(&address);
        let found = || format!("at {address:#x}");
        let expected = "an address from optr_alloc for this communicator, and not freed before";
        freed.map(drop).ok_or_else(|| Failure::argument("memory", found(), expected))
    }

    /// Lends input and output of an all-reduce, if both are in this memory.
    pub fn lend(&self, input: &Input<f32>, output: &Output<f32>) -> Result<Option<(Values, Destination)>, Failure> {
        let [from, to] = [input.addresses(), output.addresses()];
        let (of_input, of_output) = (self.find(&from), self.find(&to));
        let read = of_input.as_ref().and_then(|region| region.in_use(&from));
        let written = of_output.as_ref().and_then(|region| region.in_use(&to));
        if read == Some(InUse::Written) {
            return Err(busy("input", "writes"));
        }
        if let Some(in_use) = written {
            return Err(busy("output", if in_use == InUse::Read { "sends from" } else { "writes" }));
        }
        let (Some(of_input), Some(of_output)) = (of_input, of_output) else { return Ok(None) };
        let Ok(result) = of_output.lend_output(output) else { return Err(busy("output", "uses")) };
        if from == to {
            return Ok(Some((Values::lent(result), Destination::Gradient)));
        }
        // Input that another collective sends, or that overlaps the output, is copied instead.
        let gradient = of_input.lend_input(input).ok();
        Ok(gradient.map(|gradient| (Values::lent(gradient), Destination::Here(Values::lent(result)))))
    }

    fn find(&self, addresses: &Range<usize>) -> Option<Arc<Region>> {
        let regions = self.regions();
        let (_, region) = regions.range(..=addresses.start).next_back()?;
        region.holds(addresses).then(|| region.clone())
    }

    fn regions(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Region>>> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn busy(name: &str, does: &str) -> Failure {
    let text = format!("{name} is memory that a collective {does}; wait for its request first");
    Failure::new(OPTR_BUSY, text)
}
