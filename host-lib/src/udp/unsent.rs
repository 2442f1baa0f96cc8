//! Datagrams that this host did not send, by cause.

use std::io;

use rustix::io::Errno;
use serde::Serialize;

/// Datagrams that this host did not send since the job began, by cause. Peers see them as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unsent {
    /// No memory or room in the interface's queue (ENOBUFS, ENOMEM).
    pub no_buffers: u64,
    /// A firewall rule or a prohibiting route (EPERM, EACCES).
    pub not_permitted: u64,
    /// No route to the peer, or this rank's address is gone (ENETUNREACH, EHOSTUNREACH,
    /// EADDRNOTAVAIL, EINVAL).
    pub unreachable: u64,
    /// The interface is down or gone (ENETDOWN, ENODEV, ENXIO, EIO).
    pub interface_down: u64,
    /// No socket is bound to the peer's port (ECONNREFUSED).
    pub port_closed: u64,
    /// A rank of this host has read nothing for a second, and its ring in shared memory is full.
    pub not_read: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    NoBuffers,
    NotPermitted,
    Unreachable,
    InterfaceDown,
    PortClosed,
}

impl Refusal {
    /// Returns `None` for an error that would persist.
    pub fn of(error: &io::Error) -> Option<Self> {
        Some(match Errno::from_io_error(error)? {
            Errno::NOBUFS | Errno::NOMEM => Self::NoBuffers,
            Errno::PERM | Errno::ACCESS => Self::NotPermitted,
            // EINVAL: Linux reports it for a source address that is gone and for blackhole routes.
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::ADDRNOTAVAIL | Errno::INVAL => Self::Unreachable,
            Errno::NETDOWN | Errno::NODEV | Errno::NXIO | Errno::IO => Self::InterfaceDown,
            Errno::CONNREFUSED => Self::PortClosed,
            _ => return None,
        })
    }
}

impl Unsent {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            no_buffers: self.no_buffers + other.no_buffers,
            not_permitted: self.not_permitted + other.not_permitted,
            unreachable: self.unreachable + other.unreachable,
            interface_down: self.interface_down + other.interface_down,
            port_closed: self.port_closed + other.port_closed,
            not_read: self.not_read + other.not_read,
        }
    }

    /// Total of all causes.
    pub fn total(&self) -> u64 {
        let Self { no_buffers, not_permitted, unreachable, interface_down, port_closed, not_read } = self;
        no_buffers + not_permitted + unreachable + interface_down + port_closed + not_read
    }

    /// Counts datagrams to a rank of this host that does not read. Warns the first time.
    pub(super) fn count_not_read(&mut self, datagrams: u64, to: usize) {
        if self.not_read == 0 && datagrams > 0 {
            tracing::warn!(to, "a rank of this host has read nothing for a second; datagrams to it count as lost");
        }
        self.not_read += datagrams;
    }

    pub(super) fn count(&mut self, refusal: Refusal, datagrams: u64, to: usize) {
        let count = match refusal {
            Refusal::NoBuffers => &mut self.no_buffers,
            Refusal::NotPermitted => &mut self.not_permitted,
            Refusal::Unreachable => &mut self.unreachable,
            Refusal::InterfaceDown => &mut self.interface_down,
            Refusal::PortClosed => &mut self.port_closed,
        };
        if *count == 0 && datagrams > 0 {
            tracing::warn!(to, ?refusal, "the kernel refuses datagrams; they count as lost");
        }
        *count += datagrams;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_over_in_a_moment_is_counted_by_cause_and_what_stays_is_an_error() {
        let mut unsent = Unsent::default();
        let moments = [
            Errno::NOBUFS,
            Errno::PERM,
            Errno::NETUNREACH,
            Errno::HOSTUNREACH,
            Errno::NETDOWN,
            Errno::CONNREFUSED,
            Errno::ADDRNOTAVAIL,
        ];
        for (index, errno) in moments.into_iter().enumerate() {
            let refusal = Refusal::of(&errno.into()).unwrap_or_else(|| panic!("{errno}"));
            unsent.count(refusal, 1 << index, 1);
        }
        let expected = Unsent {
            no_buffers: 1,
            not_permitted: 2,
            unreachable: 4 + 8 + 64,
            interface_down: 16,
            port_closed: 32,
            not_read: 0,
        };
        assert_eq!((unsent, unsent.total()), (expected, 127));
        for errno in [Errno::BADF, Errno::MSGSIZE, Errno::NOTSOCK, Errno::AFNOSUPPORT] {
            assert_eq!(Refusal::of(&errno.into()), None, "{errno}");
        }
        assert_eq!(Refusal::of(&io::Error::other("not the kernel's")), None);
    }
}
