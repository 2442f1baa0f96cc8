//! Unique ids: address of rank 0 and id of the job, in 128 bytes.
//!
//! The bytes are the text `optireduce 1 ADDRESS JOB`, padded with zeros. Unless the caller passes a
//! port, a socket that is bound but does not listen reserves one until rank 0 of this process has
//! connected, or until this process ends.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use optireduce::Settings;
use optireduce::binding::Launch;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::status::Failure;
use crate::types::optr_status_t::OPTR_SYSTEM;
use crate::types::{OPTR_UNIQUE_ID_BYTES, optr_unique_id_t};

const BEGIN: &str = "optireduce 1 ";
/// For the name server.
const RESOLVING: Duration = Duration::from_secs(5);
/// Most reserved ports. Beyond it, the oldest is released.
const KEPT_MAX: usize = 64;

static KEPT: Mutex<VecDeque<(String, OwnedFd)>> = Mutex::new(VecDeque::new());

/// Creates an id. `address`: as of `optr_get_unique_id`.
pub fn make(address: Option<&str>) -> Result<optr_unique_id_t, Failure> {
    let variable = std::env::var("OPTIREDUCE_ROOT").ok().filter(|root| !root.is_empty());
    let given = address.map(str::to_owned).or(variable);
    let root = match given {
        Some(root) if has_port(&root) => root,
        Some(host) => keep_port(resolve(&host)?)?,
        None => keep_port(own_address()?)?,
    };
    let mut job = [0; 16];
    let filled = getrandom(&mut job, GetRandomFlags::empty());
    filled.map_err(|error| Failure::new(OPTR_SYSTEM, format!("random numbers for the id: {error}")))?;
    let text = format!("{BEGIN}{root} {:032x}", u128::from_le_bytes(job));
    let mut bytes = [0; OPTR_UNIQUE_ID_BYTES];
    let room = bytes.get_mut(..text.len()).filter(|_| !root.contains(char::is_whitespace));
    let expected = "HOST or HOST:PORT, of at most 82 bytes and without spaces";
    room.ok_or_else(|| Failure::argument("address", format_args!("{root:?}"), expected))?
        .copy_from_slice(text.as_bytes());
    Ok(optr_unique_id_t { bytes })
}

/// Sets the place of a rank in the job of an id.
pub fn place(settings: Settings, id: &optr_unique_id_t, rank: i32, world_size: i32) -> Result<Settings, Failure> {
    let invalid = || {
        let found = "128 bytes that optr_get_unique_id has not written";
        Failure::argument("id", found, "the id from optr_get_unique_id, with the same bytes on all ranks")
    };
    let text = std::str::from_utf8(&id.bytes).ok().map(|text| text.trim_end_matches('\0'));
    let text = text.and_then(|text| text.strip_prefix(BEGIN)).ok_or_else(invalid)?;
    let (root, job) = text.split_once(' ').ok_or_else(invalid)?;
    if job.len() != 32 || !job.bytes().all(|byte| byte.is_ascii_hexdigit()) || !has_port(root) {
        return Err(invalid());
    }
    let number =
        |name, found: i32, expected| usize::try_from(found).map_err(|_| Failure::argument(name, found, expected));
    let world_size = number("world_size", world_size, "1 to 1024")?;
    let rank = number("rank", rank, "0 to world_size - 1")?;
    Ok(settings.rank(rank).world_size(world_size).root(root).job_id(job))
}

/// Releases the port of rank 0 once it has connected or failed.
pub fn release(root: &str) {
    kept(|kept| kept.retain(|(of, _)| of != root));
}

fn kept<T>(look: impl FnOnce(&mut VecDeque<(String, OwnedFd)>) -> T) -> T {
    look(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}

fn has_port(root: &str) -> bool {
    root.rsplit_once(':').is_some_and(|(host, port)| {
        let is_host = !host.is_empty() && (!host.contains(':') || (host.starts_with('[') && host.ends_with(']')));
        is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

fn resolve(host: &str) -> Result<IpAddr, Failure> {
    let found = Launch::resolve(host.trim_start_matches('[').trim_end_matches(']'), RESOLVING);
    let failed =
        |why: String| Failure::argument("address", format_args!("{host:?} ({why})"), "HOST or HOST:PORT of this host");
    found.map_err(|error| failed(error.to_string()))?.first().copied().ok_or_else(|| failed("no address".into()))
}

fn own_address() -> Result<IpAddr, Failure> {
    let failed =
        |error| Failure::new(OPTR_SYSTEM, format!("this host's address: {error}; pass an address of this host"));
    Launch::own_address(None, None, RESOLVING).map_err(failed)
}

fn keep_port(address: IpAddr) -> Result<String, Failure> {
    let failed = |error| {
        let text = format!("no port at {address}: {error}; pass an address of this host");
        Failure::new(OPTR_SYSTEM, text)
    };
    let (root, reserved) = Launch::reserve_root(address).map_err(failed)?;
    let root = root.to_string();
    kept(|kept| {
        kept.truncate(KEPT_MAX - 1);
        kept.push_front((root.clone(), reserved));
    });
    Ok(root)
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};

    use socket2::{Domain, Socket, Type};

    use super::*;
    use crate::types::optr_status_t::OPTR_INVALID_ARGUMENT;

    fn launch(id: &optr_unique_id_t, rank: i32, world_size: i32) -> Result<Launch, Failure> {
        let settings = place(Settings::new(), id, rank, world_size)?;
        settings.launch().map_err(Failure::from)
    }

    #[test]
    fn an_id_leads_to_its_root_and_to_a_job_of_its_own() {
        let ids = [(); 2].map(|()| make(Some("127.0.0.1")).unwrap());
        let launches = ids.each_ref().map(|id| launch(id, 1, 4).unwrap());
        assert_eq!([launches[0].rank, launches[0].world_size], [1, 4]);
        assert!(launches[0].root.starts_with("127.0.0.1:"), "{launches:?}");
        assert!(launches[0].job_id != launches[1].job_id && launches[0].root != launches[1].root, "{launches:?}");
        assert_eq!(launches[0].job_id.len(), 32);
    }

    #[test]
    fn a_port_is_kept_for_rank_0_which_can_listen_there() {
        let root = launch(&make(Some("127.0.0.1")).unwrap(), 0, 2).unwrap().root;
        // `std` and tokio set SO_REUSEADDR, like rank 0.
        TcpListener::bind(&root).unwrap();
        let port = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let address = root.parse::<SocketAddr>().unwrap().into();
        assert!(port.bind(&address).is_err(), "another program could bind the port");
        release(&root);
        port.bind(&address).unwrap();
    }

    #[test]
    fn an_address_may_have_a_port_of_the_callers() {
        for root in ["node1:5000", "10.0.0.1:1", "[::1]:29517"] {
            assert_eq!(launch(&make(Some(root)).unwrap(), 0, 2).unwrap().root, root);
        }
        let long = format!("{}:1", "h".repeat(90));
        for wrong in [long.as_str(), "two words:1"] {
            let failure = make(Some(wrong)).unwrap_err();
            assert_eq!(failure.status, OPTR_INVALID_ARGUMENT);
            assert!(failure.text.starts_with("address is \""), "{failure:?}");
        }
        assert!(make(None).is_ok());
    }

    #[test]
    fn whatever_the_bytes_are_it_is_a_place_or_an_error() {
        let good = make(Some("127.0.0.1")).unwrap();
        for at in 0..OPTR_UNIQUE_ID_BYTES {
            for byte in [0, b' ', b':', b'x', 0xff] {
                let mut id = good;
                id.bytes[at] = byte;
                if let Err(failure) = launch(&id, 0, 2) {
                    assert_eq!(failure.status, OPTR_INVALID_ARGUMENT);
                }
            }
        }
        let zeros = optr_unique_id_t { bytes: [0; OPTR_UNIQUE_ID_BYTES] };
        assert!(
            launch(&zeros, 0, 2)
                .unwrap_err()
                .text
                .starts_with("id is 128 bytes that optr_get_unique_id has not written")
        );
        assert_eq!(
            launch(&good, -1, 2).unwrap_err().text,
            "rank is -1, expected 0 to world_size - 1; nothing was changed"
        );
        assert_eq!(launch(&good, 2, 2).unwrap_err().text, r#"rank is "2", expected 0 to 1"#);
    }
}
