//! What a card says of itself in its PCI configuration space, and what lies where in its only BAR.
//!
//! Limits: vendor and device are the numbers of Xilinx's PCIe bridge, which the shells keep. Other designs may have them too, so only the register
//! [`MAGIC`](crate::registers::MAGIC) tells that a device is ours.

/// Vendor: Xilinx.
pub const VENDOR_ID: u16 = 0x10ee;
/// Device: Xilinx's bridge for PCIe 3.0 x16.
pub const DEVICE_ID: u16 = 0x903f;
/// Base class, subclass and interface: an Ethernet controller.
pub const CLASS: u32 = 0x02_0000;

/// The only BAR: memory, 64 bits, not prefetchable.
pub const BAR: u32 = 0;
/// Bytes of the BAR: the registers, the MSI-X table and the pending bits.
pub const BAR0_BYTES: usize = 0x1_0000;
/// Where the MSI-X table lies in the BAR. There is a vector for each queue pair.
pub const MSIX_TABLE: usize = 0x8000;
/// Bytes of a vector in the table (PCIe 6.2, 7.7.2).
pub const MSIX_VECTOR_BYTES: usize = 16;
/// Where the pending bits lie in the BAR: 64 bits.
pub const MSIX_PENDING: usize = 0x9000;

const _: () = {
    assert!(crate::registers::BAR_BYTES <= MSIX_TABLE);
    assert!(MSIX_TABLE + crate::limits::QUEUES * MSIX_VECTOR_BYTES <= MSIX_PENDING);
    assert!(MSIX_PENDING + 8 <= BAR0_BYTES && BAR0_BYTES.is_power_of_two());
    // The lower 3 bits of the offsets are the number of the BAR.
    assert!(MSIX_TABLE.is_multiple_of(8) && MSIX_PENDING.is_multiple_of(8));
};

/// Whether `text` has the form of `lspci`'s addresses: `5e:00.0`, with a domain or without.
pub fn is_address(text: &str) -> bool {
    let is_hex = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some((bus, rest)) = text.rsplit_once(':') else { return false };
    let (domain, bus) = bus.rsplit_once(':').map_or((None, bus), |(domain, bus)| (Some(domain), bus));
    let Some((device, function)) = rest.split_once('.') else { return false };
    domain.is_none_or(|domain| is_hex(domain, 4)) && is_hex(bus, 2) && is_hex(device, 2) && is_hex(function, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_devices_are_told_from_paths() {
        assert!(["0000:5e:00.0", "5e:00.0", "FFFF:0a:1f.7"].into_iter().all(is_address));
        let paths =
            ["/tmp/card.sock", "card.sock", "./0000:5e:00.0", "00:5e", "0000:5e:00", "1:2.3", "/run/a:bc:de.0", ""];
        assert!(!paths.into_iter().any(is_address));
    }
}
