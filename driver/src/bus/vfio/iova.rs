//! Placement of DMA memory within the IOVAs that the IOMMU accepts.

use std::ops::Range;

/// Preferred first IOVA, far from addresses of processes and small devices so that a mix-up shows.
const WISHED: u64 = 0x1_0000_0000;

/// Chooses the IOVA of `bytes` bytes at a multiple of `align`, above 4 GiB if possible.
pub fn place(ranges: &[Range<u64>], bytes: u64, align: u64) -> Option<u64> {
    let fit = |from: u64| {
        ranges.iter().find_map(|range| {
            let start = range.start.max(from).checked_next_multiple_of(align)?;
            (start.checked_add(bytes)? <= range.end).then_some(start)
        })
    };
    fit(WISHED).or_else(|| fit(0))
}

pub fn without(ranges: &[Range<u64>], taken: &[Range<u64>]) -> Vec<Range<u64>> {
    taken.iter().fold(ranges.to_vec(), |ranges, taken| {
        let parts = ranges
            .into_iter()
            .flat_map(|range| [range.start..range.end.min(taken.start), range.start.max(taken.end)..range.end]);
        parts.filter(|part| !part.is_empty()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_left_out() {
        let ranges = [0..10, 20..30];
        assert_eq!(without(&ranges, &[]), ranges);
        assert_eq!(without(&ranges, &[3..5, 25..40]), [0..3, 5..10, 20..25]);
        assert_eq!(without(&ranges, &[0..10, 20..21, 29..30]).as_slice(), std::slice::from_ref(&(21..29)));
        assert_eq!(without(&ranges, &[12..15, 40..50]), ranges);
        assert_eq!(without(&ranges, &[0..30, 5..100]), []);
    }

    #[test]
    fn memory_is_placed_inside_one_range_and_above_4_gib_if_it_can_be() {
        // Ranges of Intel's virtual IOMMU, which leaves out the interrupt window.
        let ranges = [0x1000..0xfee0_0000, 0xfef0_0000..0x80_0000_0000];
        assert_eq!(place(&ranges, 4096, 4096), Some(WISHED));
        assert_eq!(place(&ranges[..1], 4096, 4096), Some(0x1000));
        assert_eq!(place(&ranges[..1], 1 << 21, 1 << 21), Some(1 << 21));
        assert_eq!(place(&ranges, 0x7f_0000_0000, 4096), Some(WISHED));
        assert_eq!(place(&ranges, 0x7f_0000_1000, 4096), Some(0xfef0_0000), "too large above 4 GiB");
        assert_eq!(place(&ranges, 0x80_0000_0000, 4096), None);
        let last = std::slice::from_ref(&(u64::MAX - 5000..u64::MAX)).to_vec();
        assert_eq!(place(&last, 4096, 4096), None);
        assert_eq!(place(&[], 4096, 4096), None);
    }
}
