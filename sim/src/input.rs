//! Reads gradients and writes results: safetensors files with f32 tensors named `step{s}.rank{r}`.

use std::collections::BTreeMap;
use std::path::Path;

use optireduce::binding::memory;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::error::SimError;

/// Upper estimate of memory per byte of input.
const MEMORY_PER_BYTE: u64 = 6;
/// Memory independent of the input.
const MEMORY_BYTES: u64 = 64 << 20;

/// Built-in gradients of a small network; see `sim/data/README.md`.
pub const SHIPPED: &[u8] = include_bytes!("../data/digits-mlp-gradients.safetensors");
/// Name of [`SHIPPED`] in messages.
pub const SHIPPED_NAME: &str = "(built-in gradients)";

/// Gradients of a job, `steps[s][r]` for rank r in step s. Ranks of a step have equal lengths.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // described above
pub struct Gradients {
    pub steps: Vec<Vec<Vec<f32>>>,
}

impl Gradients {
    /// Reads a file. `ranks` selects the first ranks, which every step must have.
    ///
    /// # Errors
    /// If the file cannot be read, or a tensor is missing or malformed.
    pub fn from_file(path: &Path, ranks: Option<usize>) -> Result<Self, SimError> {
        let read = |source| SimError::File { path: path.to_path_buf(), action: "read", source };
        let (name, found) = (path.display().to_string(), std::fs::metadata(path).map_err(read)?);
        let fail = |problem: String| SimError::Input { file: name.clone(), problem };
        if !found.is_file() {
            return Err(fail("not a regular file; the length must be known in advance".into()));
        }
        let needed = found.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_BYTES);
        memory::require("a run with it", needed, "give fewer or shorter tensors")
            .map_err(|error| fail(error.to_string()))?;
        Self::from_bytes(&name, &std::fs::read(path).map_err(read)?, ranks)
    }

    /// Parses a safetensors file; `name` identifies it in messages.
    ///
    /// # Errors
    /// As [`Gradients::from_file`].
    pub fn from_bytes(name: &str, bytes: &[u8], ranks: Option<usize>) -> Result<Self, SimError> {
        let fail = |problem: String| SimError::Input { file: name.to_owned(), problem };
        let file = SafeTensors::deserialize(bytes).map_err(|error| fail(format!("not a safetensors file: {error}")))?;
        let mut found: BTreeMap<usize, BTreeMap<usize, Vec<f32>>> = BTreeMap::new();
        for (tensor, view) in file.iter() {
            let (step, rank) = place_of(tensor)
                .ok_or_else(|| fail(format!("tensor {tensor}: expected a name of the form step0.rank0")))?;
            if view.dtype() != Dtype::F32 {
                return Err(fail(format!("tensor {tensor}: dtype is {:?}, expected F32", view.dtype())));
            }
            let values = view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            found.entry(step).or_default().insert(rank, values);
        }
        let held = found.values().flat_map(|step| step.keys()).max().map_or(0, |rank| rank + 1);
        let ranks = ranks.unwrap_or(held);
        if held > 0 && ranks > held {
            return Err(fail(format!(
                "gradients of {held} rank{}, expected {ranks}",
                if held == 1 { "" } else { "s" }
            )));
        }
        let mut steps = Vec::new();
        for (step, (number, mut of_rank)) in found.into_iter().enumerate() {
            if step != number {
                return Err(fail(format!(
                    "tensor step{step}.rank0 is missing, but there are tensors of step {number}"
                )));
            }
            let missing =
                |rank| fail(format!("tensor step{step}.rank{rank} is missing, expected ranks 0 to {}", ranks - 1));
            let step_gradients = (0..ranks)
                .map(|rank| of_rank.remove(&rank).ok_or_else(|| missing(rank)))
                .collect::<Result<Vec<_>, _>>()?;
            let expected = step_gradients.first().map_or(0, Vec::len);
            for (rank, gradient) in step_gradients.iter().enumerate() {
                if gradient.len() != expected {
                    let length = gradient.len();
                    let problem = format!(
                        "tensor step{step}.rank{rank} has {length} elements, expected {expected} as step{step}.rank0 has"
                    );
                    return Err(fail(problem));
                }
            }
            if expected == 0 {
                return Err(fail(format!("tensor step{step}.rank0 has 0 elements, expected at least 1")));
            }
            steps.push(step_gradients);
        }
        if steps.is_empty() {
            return Err(fail("no tensors, expected f32 tensors named step0.rank0, step0.rank1, ...".to_owned()));
        }
        Ok(Self { steps })
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.steps.first().map_or(0, Vec::len)
    }

    /// Number of elements of the largest step.
    pub fn elements_max(&self) -> usize {
        self.steps.iter().flatten().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns a safetensors file.
    ///
    /// # Errors
    /// If a size exceeds the limits of the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SimError> {
        let mut named = BTreeMap::new();
        for (step, of_rank) in self.steps.iter().enumerate() {
            for (rank, values) in of_rank.iter().enumerate() {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                named.insert(format!("step{step}.rank{rank}"), (values.len(), bytes));
            }
        }
        let fail = |error: safetensors::SafeTensorError| SimError::Check(format!("cannot write tensors: {error}"));
        let views = named
            .iter()
            .map(|(name, (length, bytes))| Ok((name, TensorView::new(Dtype::F32, vec![*length], bytes)?)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(fail)?;
        safetensors::serialize(views, None).map_err(fail)
    }

    /// Writes the contents to a safetensors file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn to_file(&self, path: &Path) -> Result<(), SimError> {
        let bytes = self.to_bytes()?;
        std::fs::write(path, bytes).map_err(|source| SimError::File {
            path: path.to_path_buf(),
            action: "write",
            source,
        })
    }
}

/// Parses a name like `step0.rank3`, without leading zeros.
fn place_of(name: &str) -> Option<(usize, usize)> {
    let (step, rank) = name.strip_prefix("step")?.split_once(".rank")?;
    let place = (step.parse().ok()?, rank.parse().ok()?);
    (name == format!("step{}.rank{}", place.0, place.1)).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_gradients_are_four_ranks_and_two_steps_and_survive_a_round_trip() {
        let shipped = Gradients::from_bytes(SHIPPED_NAME, SHIPPED, None).unwrap();
        assert_eq!((shipped.ranks(), shipped.steps.len(), shipped.elements_max()), (4, 2, 9610));
        let again = Gradients::from_bytes("again", &shipped.to_bytes().unwrap(), None).unwrap();
        assert_eq!(again, shipped);
    }

    #[test]
    fn fewer_ranks_than_the_file_holds_are_the_first_ones() {
        let all = Gradients::from_bytes(SHIPPED_NAME, SHIPPED, None).unwrap();
        let two = Gradients::from_bytes(SHIPPED_NAME, SHIPPED, Some(2)).unwrap();
        assert!(two.steps.iter().zip(&all.steps).all(|(two, all)| two[..] == all[..2]));
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_tensor() {
        let error = |steps: Vec<Vec<Vec<f32>>>, ranks| {
            Gradients::from_bytes("g", &Gradients { steps }.to_bytes().unwrap(), ranks).unwrap_err().to_string()
        };
        let (one, two) = (vec![1.0], vec![1.0, 2.0]);
        assert_eq!(
            error(vec![vec![two.clone(), one.clone()]], None),
            "g: tensor step0.rank1 has 1 elements, expected 2 as step0.rank0 has"
        );
        assert_eq!(
            error(vec![vec![one.clone(), one.clone()], vec![one.clone()]], None),
            "g: tensor step1.rank1 is missing, expected ranks 0 to 1"
        );
        assert_eq!(error(vec![vec![one]], Some(3)), "g: gradients of 1 rank, expected 3");
        assert!(error(vec![], None).contains("no tensors"));
        assert!(error(vec![vec![vec![], vec![]]], None).contains("0 elements"));
        let noise = Gradients::from_bytes("g", b"not a tensor file", None).unwrap_err().to_string();
        assert!(noise.starts_with("g: not a safetensors file: "), "{noise}");
    }

    #[test]
    fn names_are_taken_only_in_their_plain_form() {
        assert_eq!(place_of("step1.rank12"), Some((1, 12)));
        for name in ["step01.rank0", "step1rank0", "step.rank", "step-1.rank0", "x", "step1.rank0.grad", "step+1.rank0"]
        {
            assert_eq!(place_of(name), None, "{name}");
        }
    }
}
