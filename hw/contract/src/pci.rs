//! PCI configuration space and the map of the only BAR.
//!
//! Limits: vendor and device are the numbers of Xilinx's PCIe bridge, which other designs may use.
//! Only the register [`MAGIC`](crate::registers::MAGIC) identifies a card.

/// Vendor id of Xilinx.
pub const VENDOR_ID: u16 = 0x10ee;
/// Device id of Xilinx's bridge for PCIe 3.0 x16.
pub const DEVICE_ID: u16 = 0x903f;
/// Base class, subclass and interface: an Ethernet controller.
pub const CLASS: u32 = 0x02_0000;

/// Number of the only BAR: memory, 64 bits, not prefetchable.
pub const BAR: u32 = 0;
/// Bytes of the BAR: registers, MSI-X table and pending bits.
pub const BAR0_BYTES: usize = 0x1_0000;
/// Offset of the MSI-X table in the BAR, with a vector per queue pair.
pub const MSIX_TABLE: usize = 0x8000;
/// Bytes of a vector in the MSI-X table (PCIe 6.2, 7.7.2).
pub const MSIX_VECTOR_BYTES: usize = 16;
/// Offset of the MSI-X pending bits (64 bits) in the BAR.
pub const MSIX_PENDING: usize = 0x9000;

const _: () = {
    assert!(crate::registers::BAR_BYTES <= MSIX_TABLE);
    assert!(MSIX_TABLE + crate::limits::QUEUES * MSIX_VECTOR_BYTES <= MSIX_PENDING);
    assert!(MSIX_PENDING + 8 <= BAR0_BYTES && BAR0_BYTES.is_power_of_two());
    // The MSI-X capability keeps the BAR's number in the low 3 bits of these offsets.
    assert!(MSIX_TABLE.is_multiple_of(8) && MSIX_PENDING.is_multiple_of(8));
};

/// Returns whether `text` is a PCI address as `lspci` prints it: `5e:00.0` or `0000:5e:00.0`.
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
