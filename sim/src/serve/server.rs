//! A vfio-user server: messages of one client to a served card.
//!
//! Trust: every length is checked before anything is allocated. A client whose header or payload
//! has an impossible length loses its connection. A request that cannot be served is answered with
//! an error.
//!
//! Source: the vfio-user protocol, version 0.0 (QEMU, docs/interop/vfio-user.rst).

use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;

use optireduce_contract::limits::QUEUES;
use optireduce_contract::pci::BAR0_BYTES;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::config_space::CONFIG_BYTES;
use super::device::{BAR0, CONFIG, Device, MSIX};

const HEADER_BYTES: usize = 16;
/// Largest access to a region.
const DATA_BYTES_MAX: usize = 1 << 20;
/// Largest message: a write to a region.
const MESSAGE_BYTES_MAX: usize = HEADER_BYTES + ACCESS_BYTES + DATA_BYTES_MAX;
/// Region, offset and length of an access.
const ACCESS_BYTES: usize = 16;
const FILES_MAX: usize = 16;
const CAPABILITIES: &[u8] =
    b"{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":1048576,\"migration\":{\"pgsize\":4096}}}\0";

const EINVAL: i32 = rustix::io::Errno::INVAL.raw_os_error();

// Flags of a header.
const REPLY: u32 = 1;
const NO_REPLY: u32 = 1 << 4;
const ERROR: u32 = 1 << 5;

// From VFIO, `linux/vfio.h`.
const IRQ_DATA_BOOL: u32 = 1 << 1;
const IRQ_EVENTFD: u32 = 1;
const REGIONS: u32 = 9;
const INTERRUPTS: u32 = 5;
const REGION_READ_WRITE: u32 = 3;
const DEVICE_PCI_RESET: u32 = 3;
const DMA_READ: u32 = 1;
const DMA_WRITE: u32 = 2;
const DMA_UNMAP_ALL: u32 = 1 << 2;

struct Message {
    id: u16,
    command: u16,
    flags: u32,
    payload: Vec<u8>,
    files: Vec<File>,
}

/// Serves a client until it disconnects.
///
/// # Errors
/// If the connection fails, or a message has an impossible length.
pub(super) fn serve(mut client: UnixStream, device: &mut Device) -> io::Result<()> {
    while let Some(mut message) = receive(&mut client)? {
        let answer = answer(&mut message, device);
        if message.flags & NO_REPLY != 0 {
            continue;
        }
        let (flags, error, payload) = match answer {
            Ok(payload) => (REPLY, 0, payload),
            Err(error) => (REPLY | ERROR, error.raw_os_error().unwrap_or(EINVAL) as u32, Vec::new()),
        };
        let bytes = (HEADER_BYTES + payload.len()) as u32;
        let mut reply = [message.id, message.command].map(u16::to_le_bytes).concat();
        reply.extend([bytes, flags, error].map(u32::to_le_bytes).concat());
        reply.extend(payload);
        client.write_all(&reply)?;
    }
    Ok(())
}

fn receive(client: &mut UnixStream) -> io::Result<Option<Message>> {
    let mut header = [0; HEADER_BYTES];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let received = loop {
        match recvmsg(&*client, &mut [IoSliceMut::new(&mut header)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            received => break received?.bytes,
        }
    };
    if received == 0 {
        return Ok(None);
    }
    client.read_exact(&mut header[received..])?;
    let mut files = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            files.extend(fds.map(File::from));
        }
    }
    let (id, command, bytes, flags) = (u16_at(&header, 0), u16_at(&header, 2), u32_at(&header, 4), u32_at(&header, 8));
    if !(HEADER_BYTES..=MESSAGE_BYTES_MAX).contains(&(bytes as usize)) {
        let what = format!(
            "a message of {bytes} bytes (command {command}), expected {HEADER_BYTES} to {MESSAGE_BYTES_MAX}: not a vfio-user client?"
        );
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    }
    let mut payload = vec![0; bytes as usize - HEADER_BYTES];
    client.read_exact(&mut payload)?;
    Ok(Some(Message { id, command, flags, payload, files }))
}

fn answer(message: &mut Message, device: &mut Device) -> io::Result<Vec<u8>> {
    let Message { command, payload, files, .. } = message;
    let at_least = |bytes: usize| match payload.len() >= bytes {
        true => Ok(()),
        false => refuse(format!("command {command} has {} bytes, expected {bytes}", payload.len())),
    };
    let word = |index: usize| u32_at(payload, 4 * index);
    let long = |at: usize| u64_at(payload, at);
    match command {
        // VERSION: the capabilities of the client change nothing here.
        1 => {
            at_least(4)?;
            Ok([&[0; 4], CAPABILITIES].concat())
        }
        // DMA_MAP
        2 => {
            at_least(32)?;
            if files.len() > 1 {
                return refuse(format!("a mapping with {} files, expected one at most", files.len()));
            }
            let allowed = [DMA_READ, DMA_WRITE].map(|access| word(1) & access != 0);
            device.map(allowed, long(8), long(16), long(24), files.pop())?;
            Ok(Vec::new())
        }
        // DMA_UNMAP
        3 => {
            at_least(24)?;
            device.unmap(word(1) & DMA_UNMAP_ALL != 0, long(8), long(16));
            Ok(payload[..24].to_vec())
        }
        // DEVICE_GET_INFO
        4 => {
            at_least(8)?;
            Ok(words([16, DEVICE_PCI_RESET, REGIONS, INTERRUPTS]))
        }
        // DEVICE_GET_REGION_INFO
        5 => {
            at_least(32)?;
            let bytes = match word(2) {
                BAR0 => BAR0_BYTES as u64,
                CONFIG => CONFIG_BYTES as u64,
                index if index < REGIONS => 0,
                index => return refuse(format!("region {index} does not exist")),
            };
            let flags = if bytes > 0 { REGION_READ_WRITE } else { 0 };
            Ok([words([32, flags, word(2), 0]), bytes.to_le_bytes().to_vec(), vec![0; 8]].concat())
        }
        // DEVICE_GET_IRQ_INFO: only MSI-X.
        7 => {
            at_least(16)?;
            let index = word(2);
            if index >= INTERRUPTS {
                return refuse(format!("interrupt {index} does not exist"));
            }
            let (flags, count) = if index == MSIX { (IRQ_EVENTFD, QUEUES as u32) } else { (0, 0) };
            Ok(words([16, flags, index, count]))
        }
        // DEVICE_SET_IRQS
        8 => {
            at_least(20)?;
            if word(2) >= INTERRUPTS || word(1) & IRQ_DATA_BOOL != 0 {
                return refuse(format!("interrupt {} with flags {:#x} is not supported", word(2), word(1)));
            }
            device.set_interrupts(word(2), word(1), word(3), word(4), std::mem::take(files));
            Ok(Vec::new())
        }
        // REGION_READ
        9 => {
            let count = access(payload, None)?;
            let mut data = vec![0; count];
            device.read(word(2), long(0), &mut data)?;
            Ok([&payload[..ACCESS_BYTES], &data].concat())
        }
        // REGION_WRITE
        10 => {
            let count = access(payload, payload.len().checked_sub(ACCESS_BYTES))?;
            device.write(word(2), long(0), &payload[ACCESS_BYTES..ACCESS_BYTES + count])?;
            Ok(payload[..ACCESS_BYTES].to_vec())
        }
        // DEVICE_RESET
        13 => {
            device.reset_function();
            Ok(Vec::new())
        }
        _ => refuse(format!("command {command} is not supported")),
    }
}

/// Length of an access to a region. `data`: bytes of a write.
fn access(payload: &[u8], data: Option<usize>) -> io::Result<usize> {
    if payload.len() < ACCESS_BYTES {
        return refuse(format!("an access of {} bytes, expected {ACCESS_BYTES} or more", payload.len()));
    }
    let count = u32_at(payload, 12) as usize;
    match count <= DATA_BYTES_MAX && data.is_none_or(|data| data == count) {
        true => Ok(count),
        false => refuse(format!("an access to {count} bytes, expected {}", data.unwrap_or(DATA_BYTES_MAX))),
    }
}

fn refuse<T>(what: String) -> io::Result<T> {
    tracing::warn!(what, "refused a request of the client");
    Err(io::Error::new(ErrorKind::InvalidInput, what))
}

fn words(words: [u32; 4]) -> Vec<u8> {
    words.map(u32::to_le_bytes).concat()
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes[at..].first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
