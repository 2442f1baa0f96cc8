//! Tensor files: reading, comparing among ranks, writing.
//!
//! Formats are safetensors with F32, BF16 or F16 tensors, and raw little-endian fp32 with other
//! extensions. Values are fp32 in memory and rounded to the tensor's type when written (to nearest,
//! ties to even).

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Permissions};
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use optireduce::binding::memory;
use rustix::process::{Resource, getrlimit};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// Memory per byte of a file: fp32 values (2 for 16-bit types), and at the end the new bytes by
/// tensor and in one piece.
const MEMORY_PER_BYTE: u64 = 4;
const MEMORY_BYTES: u64 = 256 << 20;

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

/// Tensors of a file, ordered by name, and their concatenated values.
pub struct Content {
    pub tensors: Vec<Tensor>,
    pub values: Vec<f32>,
    metadata: Option<HashMap<String, String>>,
}

impl Content {
    pub fn read(path: &str) -> Result<Self, String> {
        let fail = |problem: String| format!("{path}: {problem}");
        let found = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?;
        if !found.is_file() {
            return Err(fail("not a regular file; the length must be known in advance".into()));
        }
        require_memory(path, found.len())?;
        let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
        Self::parse(path, &bytes)
    }

    /// The extension of `path` decides on the format.
    fn parse(path: &str, bytes: &[u8]) -> Result<Self, String> {
        let fail = |problem: String| format!("{path}: {problem}");
        let mut values = Vec::new();
        if !is_safetensors(path) {
            if let Some((found, remedy)) = other_format(bytes) {
                return Err(fail(format!("the file is {found}, expected raw fp32; {remedy}")));
            }
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
                    "tensor {}: its type is {:?}, expected F32, BF16 or F16; convert it first",
                    shown(&name),
                    view.dtype()
                ))
            })?;
            element.read(view.data(), &mut values);
            tensors.push(Tensor { name, shape: view.shape().to_vec(), element });
        }
        Ok(Self { tensors, values, metadata: header.metadata().clone() })
    }

    /// Writes a temporary file next to the file that it will replace.
    pub fn stage(&self, path: &str) -> Result<Staged, String> {
        let bytes = self.bytes(path)?;
        // A folder cannot be replaced, and a device or a pipe must not.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(format!("{path}: exists and is not a regular file; choose another --out"));
        }
        if let Some(limit) = getrlimit(Resource::Fsize).current.filter(|limit| bytes.len() as u64 > *limit) {
            // A write beyond the limit ends a process by a signal.
            let found = bytes.len();
            return Err(format!(
                "{path}: the mean has {found} bytes, more than `ulimit -f` allows ({limit} bytes); raise the limit"
            ));
        }
        Staged::write(Path::new(path), &bytes).map_err(|error| format!("{path}: {error}"))
    }

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

    /// Converts ranges over all values to ranges of each tensor, in row-major order.
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

/// Range of a tensor's elements, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub tensor: String,
    pub first: usize,
    pub last: usize,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (tensor, Self { first, last, .. }) = (shown(&self.tensor), self);
        if first == last { write!(f, "{tensor}[{first}]") } else { write!(f, "{tensor}[{first}..={last}]") }
    }
}

/// Name of a tensor for a message, in one line.
fn shown(name: &str) -> String {
    let escaped = |char: char| match char.is_control() {
        true => char.escape_default().collect(),
        false => String::from(char),
    };
    name.chars().map(escaped).collect()
}

fn require_memory(path: &str, bytes: u64) -> Result<(), String> {
    let needed = bytes.saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_BYTES);
    memory::require(path, needed, "average it in parts").map_err(|error| error.to_string())
}

/// Format of a file that is not raw fp32, and the remedy.
fn other_format(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const CONVERT: &str = "save it as safetensors, or as raw values";
    let begins: [(&[u8], _); 4] = [
        (b"\x93NUMPY", "an array of numpy (.npy)"),
        (b"PK\x03\x04", "a zip archive (as .npz and .pt are)"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"GGUF", "a GGUF file"),
    ];
    if let Some((_, found)) = begins.iter().find(|(begin, _)| bytes.starts_with(begin)) {
        return Some((found, CONVERT));
    }
    let is_safetensors = SafeTensors::read_metadata(bytes).is_ok();
    is_safetensors.then_some(("a safetensors file", "give it the extension .safetensors"))
}

pub fn is_safetensors(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "safetensors")
}

/// Complete temporary file that is not in its place yet, removed on drop.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    file: NamedTempFile,
}

impl Staged {
    fn write(path: &Path, bytes: &[u8]) -> std::io::Result<Self> {
        // A file that others may not read must not become one that they may.
        let replaced = std::fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o777);
        let mut file = tempfile::Builder::new()
            .prefix(".optireduce-")
            // The umask applies, as to any new file.
            .permissions(Permissions::from_mode(replaced.unwrap_or(0o666)))
            .tempfile_in(folder(path))?;
        if let Some(mode) = replaced {
            file.as_file().set_permissions(Permissions::from_mode(mode))?;
        }
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(Self { path: path.into(), file })
    }

    /// Replaces the destination atomically, also with respect to crashes.
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

/// Reason why the files cannot be averaged: the first unreadable file, or the first difference from
/// the lowest rank. Tensors are compared by name, in any order.
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
        for (key, Tensor { shape, element, .. }) in expected {
            let name = shown(key);
            match found.get(key) {
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
            let name = shown(name);
            return Some(format!(
                "rank {rank} has a tensor {name} of type {element:?} and shape {shape:?}; rank {first} has none"
            ));
        }
    }
    None
}

/// Parses `data` in both formats and checks that accepted files survive a round trip (fuzz target).
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
            assert_eq!(read[5..], [1.0, 1.0 + 4.0 * step], "{element:?}");
        }
    }
}
