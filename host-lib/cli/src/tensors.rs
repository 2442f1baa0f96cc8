//! Files of tensors: reading, comparing what ranks have, writing.
//!
//! Safetensors with F32, BF16 or F16 tensors, or raw little-endian fp32 under any other extension. Values are fp32 in memory; they
//! are rounded to the tensor's own type when they are written (to nearest, ties to even).

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Permissions};
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use optireduce::memory;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// Memory for each byte of a file: its bytes while they are read, its values as fp32, which take twice as many if they are half as
/// precise there, and its bytes again, in one piece and by tensor, when the mean is written.
const MEMORY_PER_BYTE: u64 = 4;
/// Memory for what is all-reduced at a time, with all its buffers, and for everything else.
const MEMORY_BYTES: u64 = 256 << 20;

/// Type of a tensor's values in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Element {
    F32,
    BF16,
    F16,
}

impl Element {
    fn of(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::F32 => Some(Self::F32),
            Dtype::BF16 => Some(Self::BF16),
            Dtype::F16 => Some(Self::F16),
            _ => None,
        }
    }

    fn dtype(self) -> Dtype {
        match self {
            Self::F32 => Dtype::F32,
            Self::BF16 => Dtype::BF16,
            Self::F16 => Dtype::F16,
        }
    }

    fn read(self, bytes: &[u8], values: &mut Vec<f32>) {
        let halves = || bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
        match self {
            Self::F32 => values.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes))),
            Self::BF16 => values.extend(halves().map(|bits| bf16::from_bits(bits).to_f32())),
            Self::F16 => values.extend(halves().map(|bits| f16::from_bits(bits).to_f32())),
        }
    }

    fn write(self, values: &[f32]) -> Vec<u8> {
        match self {
            Self::F32 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::BF16 => values.iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes()).collect(),
            Self::F16 => values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect(),
        }
    }
}

/// A tensor without its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    pub name: String,
    pub shape: Vec<usize>,
    pub element: Element,
}

impl Tensor {
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The tensors of a file in the order of their names, and their values one after the other.
pub struct Content {
    pub tensors: Vec<Tensor>,
    pub values: Vec<f32>,
    metadata: Option<HashMap<String, String>>,
}

impl Content {
    /// Reads a file.
    pub fn read(path: &str) -> Result<Self, String> {
        let fail = |problem: String| format!("{path}: {problem}");
        let found = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?;
        if !found.is_file() {
            return Err(fail("it is no regular file, whose length is known before it is read".into()));
        }
        require_memory(path, found.len())?;
        let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
        Self::parse(path, &bytes)
    }

    /// What a file of this name holds.
    fn parse(path: &str, bytes: &[u8]) -> Result<Self, String> {
        let fail = |problem: String| format!("{path}: {problem}");
        let mut values = Vec::new();
        if !is_safetensors(path) {
            if !bytes.len().is_multiple_of(4) {
                return Err(fail(format!("{} bytes, expected a multiple of 4 for raw fp32", bytes.len())));
            }
            Element::F32.read(bytes, &mut values);
            let tensor = Tensor { name: "values".into(), shape: vec![values.len()], element: Element::F32 };
            return Ok(Self { tensors: vec![tensor], values, metadata: None });
        }
        let invalid = |error: safetensors::SafeTensorError| fail(format!("not a safetensors file: {error}"));
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(invalid)?;
        let mut views = SafeTensors::deserialize(bytes).map_err(invalid)?.tensors();
        views.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut tensors = Vec::new();
        for (name, view) in views {
            let element = Element::of(view.dtype()).ok_or_else(|| {
                fail(format!(
                    "tensor {name}: its type is {:?}, expected F32, BF16 or F16; convert it first",
                    view.dtype()
                ))
            })?;
            element.read(view.data(), &mut values);
            tensors.push(Tensor { name, shape: view.shape().to_vec(), element });
        }
        Ok(Self { tensors, values, metadata: header.metadata().clone() })
    }

    /// Writes a file whole, beside the one that it will replace.
    pub fn stage(&self, path: &str) -> Result<Staged, String> {
        let bytes = self.bytes(path)?;
        // A folder cannot be replaced, and a device or a pipe must not.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(format!("{path}: it is there already and no regular file; give another --out"));
        }
        Staged::write(Path::new(path), &bytes).map_err(|error| format!("{path}: {error}"))
    }

    /// What a file of this name is to hold.
    fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        let fail = |error: &dyn std::error::Error| format!("{path}: {error}");
        Ok(if is_safetensors(path) {
            let mut rest = self.values.as_slice();
            let data = self.tensors.iter().map(|tensor| {
                let (values, after) = rest.split_at(tensor.elements());
                rest = after;
                tensor.element.write(values)
            });
            let data: Vec<Vec<u8>> = data.collect();
            let views = self.tensors.iter().zip(&data).map(|(tensor, data)| {
                let view = TensorView::new(tensor.element.dtype(), tensor.shape.clone(), data)?;
                Ok((tensor.name.as_str(), view))
            });
            let views =
                views.collect::<Result<Vec<_>, _>>().map_err(|error: safetensors::SafeTensorError| fail(&error))?;
            safetensors::serialize(views, self.metadata.clone()).map_err(|error| fail(&error))?
        } else {
            Element::F32.write(&self.values)
        })
    }

    /// Elements of all values by tensor: name and elements of the tensor, row-major.
    pub fn named(&self, missing: &[Range<usize>]) -> Vec<Missing> {
        let mut named = Vec::new();
        let mut begin = 0;
        for tensor in &self.tensors {
            let end = begin + tensor.elements();
            let inside = missing.iter().map(|range| range.start.max(begin)..range.end.min(end));
            let inside = inside.filter(|range| !range.is_empty());
            named.extend(inside.map(|range| Missing {
                tensor: tensor.name.clone(),
                first: range.start - begin,
                last: range.end - 1 - begin,
            }));
            begin = end;
        }
        named
    }
}

/// Elements of a tensor, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub tensor: String,
    pub first: usize,
    pub last: usize,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tensor, first, last } = self;
        if first == last { write!(f, "{tensor}[{first}]") } else { write!(f, "{tensor}[{first}..={last}]") }
    }
}

/// Whether there is memory to average a file of so many bytes.
fn require_memory(path: &str, bytes: u64) -> Result<(), String> {
    let needed = bytes.saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_BYTES);
    memory::require(path, needed, "average it in parts").map_err(|error| error.to_string())
}

fn is_safetensors(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "safetensors")
}

/// A file that is written and not yet in its place; removed if it is dropped.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    file: NamedTempFile,
}

impl Staged {
    fn write(path: &Path, bytes: &[u8]) -> std::io::Result<Self> {
        let mut file = tempfile::Builder::new()
            .prefix(".optireduce-")
            // As for any new file; the umask applies.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(Self { path: path.into(), file })
    }

    /// Puts it in its place: readers see the old file or the new one, also after a crash.
    pub fn publish(self) -> Result<(), String> {
        let Self { path, file } = self;
        let published =
            file.persist(&path).map_err(|error| error.error).and_then(|_| File::open(folder(&path))?.sync_all());
        published.map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What keeps the ranks from averaging their files, if anything does: the first rank that could not read its file, or the first
/// difference from the lowest rank. Tensors go by name, so their order in the files does not matter.
pub fn difference(files: &[(usize, Result<Vec<Tensor>, String>)]) -> Option<String> {
    if let Some((rank, Err(error))) = files.iter().find(|(_, tensors)| tensors.is_err()) {
        return Some(format!("rank {rank}: {error}"));
    }
    let by_name = files.iter().filter_map(|(rank, tensors)| {
        let tensors = tensors.as_ref().ok()?;
        Some((rank, tensors.iter().map(|one| (one.name.as_str(), one)).collect::<BTreeMap<_, _>>()))
    });
    let by_name: Vec<_> = by_name.collect();
    let (first, expected) = by_name.first()?;
    for (rank, found) in &by_name[1..] {
        for (name, Tensor { shape, element, .. }) in expected {
            match found.get(name) {
                None => {
                    return Some(format!(
                        "rank {rank} has no tensor {name}; rank {first} has one of type {element:?} and shape {shape:?}"
                    ));
                }
                Some(other) if other.shape != *shape => {
                    return Some(format!(
                        "tensor {name} has shape {:?} on rank {rank} and {shape:?} on rank {first}",
                        other.shape
                    ));
                }
                Some(other) if other.element != *element => {
                    return Some(format!(
                        "tensor {name} has type {:?} on rank {rank} and {element:?} on rank {first}",
                        other.element
                    ));
                }
                Some(_) => {}
            }
        }
        if let Some((name, Tensor { shape, element, .. })) =
            found.iter().find(|(name, _)| !expected.contains_key(*name))
        {
            return Some(format!(
                "rank {rank} has a tensor {name} of type {element:?} and shape {shape:?}; rank {first} has none"
            ));
        }
    }
    None
}

/// Reads `data` as files of both kinds: what is taken survives being written and read again. For the fuzzer, and for what it kept.
#[cfg(any(test, fuzzing))]
pub fn play(data: &[u8]) {
    for path in ["x.safetensors", "x.raw"] {
        let Ok(content) = Content::parse(path, data) else { continue };
        let elements: usize = content.tensors.iter().map(Tensor::elements).sum();
        assert_eq!(elements, content.values.len(), "{:?}", content.tensors);
        let all = std::iter::once(0..elements);
        let named: usize = content.named(&all.collect::<Vec<_>>()).iter().map(|one| one.last - one.first + 1).sum();
        assert_eq!(named, elements);
        let again = content.bytes(path).and_then(|bytes| Content::parse(path, &bytes)).expect("it was read");
        assert_eq!((&again.tensors, &again.metadata), (&content.tensors, &content.metadata));
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let is_nan = |content: &Content| content.values.iter().any(|value| value.is_nan());
        assert!(bits(&again.values) == bits(&content.values) || is_nan(&content), "{:?}", content.tensors);
        assert_eq!(difference(&[(0, Ok(content.tensors)), (1, Ok(again.tensors))]), None);
    }
}

#[cfg(test)]
#[path = "../../../tests/fuzz/play/corpus.rs"]
mod corpus;

#[cfg(test)]
mod tests {
    use super::*;

    /// What the fuzzer of `tests/fuzz` has kept.
    #[test]
    fn whatever_a_file_holds_is_an_error_or_survives() {
        corpus::replay("tensors", play);
    }

    fn tensor(name: &str, shape: &[usize]) -> Tensor {
        Tensor { name: name.into(), shape: shape.to_vec(), element: Element::F32 }
    }

    #[test]
    fn missing_elements_are_named_by_tensor_and_cut_at_its_ends() {
        let tensors = vec![tensor("a", &[2, 3]), tensor("b", &[0]), tensor("c", &[4])];
        let content = Content { tensors, values: vec![0.0; 10], metadata: None };
        let named: Vec<String> = content.named(&[1..2, 4..8, 9..10]).iter().map(ToString::to_string).collect();
        assert_eq!(named, ["a[1]", "a[4..=5]", "c[0..=1]", "c[3]"]);
        assert_eq!(content.named(&[]), []);
    }

    #[test]
    fn the_first_difference_names_rank_tensor_and_both_values() {
        let ours = vec![tensor("a", &[2, 3]), tensor("b", &[1])];
        let check = |theirs: Vec<Tensor>| difference(&[(0, Ok(ours.clone())), (2, Ok(theirs))]);
        assert_eq!(check(vec![ours[1].clone(), ours[0].clone()]), None, "order does not matter");
        let none = check(vec![ours[0].clone()]);
        assert_eq!(none.as_deref(), Some("rank 2 has no tensor b; rank 0 has one of type F32 and shape [1]"));
        let shape = check(vec![tensor("a", &[6]), ours[1].clone()]);
        assert_eq!(shape.as_deref(), Some("tensor a has shape [6] on rank 2 and [2, 3] on rank 0"));
        let element = check(vec![Tensor { element: Element::F16, ..ours[0].clone() }, ours[1].clone()]);
        assert_eq!(element.as_deref(), Some("tensor a has type F16 on rank 2 and F32 on rank 0"));
        let more = check([ours.clone(), vec![tensor("c", &[])]].concat());
        assert_eq!(more.as_deref(), Some("rank 2 has a tensor c of type F32 and shape []; rank 0 has none"));
        let unread = difference(&[(0, Ok(ours.clone())), (1, Err("x: no such file".into()))]);
        assert_eq!(unread.as_deref(), Some("rank 1: x: no such file"));
    }

    #[test]
    fn values_of_every_type_survive_and_round_to_even() {
        for (element, step) in [(Element::BF16, 2f32.powi(-8)), (Element::F16, 2f32.powi(-11)), (Element::F32, 0.0)] {
            let mut read = Vec::new();
            element
                .read(&element.write(&[0.0, -0.0, 1.0, -2.5, f32::INFINITY, 1.0 + step, 1.0 + 3.0 * step]), &mut read);
            assert_eq!(read[..5], [0.0, 0.0, 1.0, -2.5, f32::INFINITY]);
            assert!(read[1].is_sign_negative());
            // Half-way: to the even neighbour, down and up.
            assert_eq!(read[5..], [1.0, 1.0 + 4.0 * step], "{element:?}");
        }
    }
}
