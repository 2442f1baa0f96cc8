//! Initramfs: `optireduce-nic` as a static program, and programs with this machine's libraries.
//!
//! Static builds of the others would take minutes. Source: the kernel's `buffer-format.rst`
//! ("newc").

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Entry {
    mode: u32,
    device: [u32; 2],
    bytes: Vec<u8>,
}

const DIRECTORY: u32 = 0o040_755;
const EXECUTABLE: u32 = 0o100_755;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// Builds the initramfs of all machines, with `programs` in `/bin` and `files` in `/data`.
///
/// # Errors
/// If a file is missing, or `alone` needs a library.
pub fn build(
    packages: &Path,
    init: &Path,
    alone: &Path,
    programs: &[PathBuf],
    files: &[PathBuf],
    scratch: &Path,
) -> Result<Vec<u8>, String> {
    let mut entries = BTreeMap::new();
    for directory in ["bin", "dev", "proc", "sys", "tmp", "modules", "data"] {
        entries.insert(directory.to_owned(), Entry { mode: DIRECTORY, device: [0; 2], bytes: Vec::new() });
    }
    entries.insert("dev/console".into(), Entry { mode: CHARACTER_DEVICE, device: [5, 1], bytes: Vec::new() });
    let mut add = |name: String, from: &Path| -> Result<(), String> {
        let bytes = fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
        parents(&name).into_iter().for_each(|parent| {
            entries.entry(parent).or_insert(Entry { mode: DIRECTORY, device: [0; 2], bytes: Vec::new() });
        });
        entries.insert(name, Entry { mode: EXECUTABLE, device: [0; 2], bytes });
        Ok(())
    };
    add("init".into(), init)?;
    add("bin/busybox".into(), &packages.join("busybox"))?;
    for module in listed(&packages.join("modules"))? {
        add(format!("modules/{}", name_of(&module)), &module)?;
    }
    let needed = libraries(alone)?;
    if !needed.is_empty() {
        return Err(format!(
            "{}: it needs {needed:?}, expected a static program; build it: tests/vm/static {}",
            alone.display(),
            packages.display()
        ));
    }
    add(format!("bin/{}", name_of(alone)), &stripped(alone, scratch)?)?;
    for program in programs {
        for library in libraries(program)? {
            add(library.to_string_lossy().trim_start_matches('/').to_owned(), &library)?;
        }
        add(format!("bin/{}", name_of(program)), &stripped(program, scratch)?)?;
    }
    for file in files {
        add(format!("data/{}", name_of(file)), file)?;
    }
    Ok(cpio(&entries))
}

fn parents(name: &str) -> Vec<String> {
    let mut all: Vec<String> =
        Path::new(name).ancestors().skip(1).map(|parent| parent.to_string_lossy().into_owned()).collect();
    all.retain(|parent| !parent.is_empty());
    all.reverse();
    all
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn listed(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

/// Loader and libraries of a program.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("ldd").arg(program).output().map_err(|error| format!("ldd: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.contains("not found") {
        return Err(format!("ldd {}: {text}{}", program.display(), String::from_utf8_lossy(&output.stderr)));
    }
    Ok(text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect())
}

/// Copies a program without symbols, which would fill the machine's memory.
fn stripped(program: &Path, scratch: &Path) -> Result<PathBuf, String> {
    let copy = scratch.join(name_of(program));
    match Command::new("strip").arg("-o").arg(&copy).arg(program).status() {
        Ok(status) if status.success() => Ok(copy),
        Ok(status) => Err(format!("strip {}: {status}", program.display())),
        Err(_) => Ok(program.into()),
    }
}

fn cpio(entries: &BTreeMap<String, Entry>) -> Vec<u8> {
    let mut archive = Vec::new();
    for (number, (name, entry)) in entries.iter().enumerate() {
        append(&mut archive, number as u32 + 1, name, entry);
    }
    append(&mut archive, 0, "TRAILER!!!", &Entry { mode: 0, device: [0; 2], bytes: Vec::new() });
    archive
}

fn append(archive: &mut Vec<u8>, inode: u32, name: &str, entry: &Entry) {
    let (bytes, name_bytes) = (entry.bytes.len() as u32, name.len() as u32 + 1);
    archive.extend(b"070701");
    // Inode, mode, user, group, links, time, size, device, major and minor of a device file, length
    // of the name, checksum.
    let [major, minor] = entry.device;
    for field in [inode, entry.mode, 0, 0, 1, 0, bytes, 0, 0, major, minor, name_bytes, 0] {
        archive.extend(format!("{field:08x}").bytes());
    }
    archive.extend(name.bytes().chain([0]));
    archive.resize(archive.len().next_multiple_of(4), 0);
    archive.extend(&entry.bytes);
    archive.resize(archive.len().next_multiple_of(4), 0);
}
