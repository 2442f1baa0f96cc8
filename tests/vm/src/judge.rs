//! Judge of results; shares no code with the library.
//!
//! The mean of an element is the fp32 sum of values, rounded after each addition, times the
//! reciprocal of their number. Any order of addition is allowed, but only one for a beat. After a
//! loss any subset of the ranks is allowed. If a card recorded its order, only that order is
//! allowed ([`check_order`]).

use std::collections::BTreeMap;

use serde::Deserialize;

/// Elements of a beat, which arrive together.
const BEAT: usize = 16;

/// An accepted beat, as `optireduce-sim serve --trace` writes it.
#[derive(Deserialize)]
struct Accepted {
    cookie: u32,
    stage: u8,
    position: usize,
    sender: usize,
}

/// By collective and beat: the ranks whose values a card added, in order.
pub type Orders = Vec<BTreeMap<usize, Vec<usize>>>;

///
/// Parses the trace of a card, from a job with one window.
///
/// # Errors
/// If a line is invalid, or belongs to another window.
pub fn orders(trace: &str) -> Result<Orders, String> {
    let mut all = BTreeMap::<u32, BTreeMap<usize, Vec<usize>>>::new();
    for line in trace.lines() {
        let accepted: Accepted = serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}"))?;
        // The cookie holds the collective, and the number of the window.
        let (collective, window) = (accepted.cookie >> 16, accepted.cookie & 0xffff);
        if window != 0 {
            return Err(format!("{line:?}: window {window}, expected one for each collective"));
        }
        let beats = all.entry(collective).or_default();
        if accepted.stage == 0 {
            beats.entry(accepted.position).or_default().push(accepted.sender);
        }
    }
    Ok(all.into_values().collect())
}

///
/// Checks the elements that a card aggregated in the recorded order. Returns their number.
///
/// # Errors
/// The first wrong element, or a rank that was added twice.
pub fn check_order(
    bits: &[u32],
    gradients: &[Vec<f32>],
    order: &BTreeMap<usize, Vec<usize>>,
    missing: &[(usize, usize)],
) -> Result<usize, String> {
    let mut checked = 0;
    for (beat, senders) in order {
        let twice = (1..senders.len()).find(|at| senders[..*at].contains(&senders[*at]));
        if let Some(at) = twice {
            return Err(format!("beat {beat}: rank {} was added twice: {senders:?}", senders[at]));
        }
        let elements = beat * BEAT..((beat + 1) * BEAT).min(bits.len());
        for at in elements.filter(|at| !missing.iter().any(|(start, end)| (*start..*end).contains(at))) {
            let value = |rank: &usize| gradients.get(*rank).map(|gradient| gradient[at]);
            let values: Option<Vec<f32>> = senders.iter().map(value).collect();
            let values = values.ok_or_else(|| format!("beat {beat}: of an unknown rank: {senders:?}"))?;
            let sum = values[1..].iter().fold(values[0], |sum, value| sum + value);
            let expected = sum * (1.0 / values.len() as f32);
            if bits[at] != expected.to_bits() {
                let found = f32::from_bits(bits[at]);
                return Err(format!(
                    "element {at} is {found}, expected {expected}: the values of ranks {senders:?}, in this order"
                ));
            }
            checked += 1;
        }
    }
    Ok(checked)
}

/// Returns whether `bits` are means in one order, over all ranks if `whole`, else over some.
fn are_means(bits: &[u32], values: &[Vec<f32>], whole: bool) -> bool {
    let ranks: Vec<usize> = (0..values.len()).collect();
    any_order(&ranks, values, &[], 0, &|sums, count| {
        let allowed = !whole || count == values.len();
        let is_mean = |(sum, bits): (&f32, &u32)| (sum * (1.0 / count as f32)).to_bits() == *bits;
        allowed && sums.iter().zip(bits).all(is_mean)
    })
}

/// Returns whether `found` holds for sums over some of the ranks `left`, added to `sums` of `count`
/// ranks.
fn any_order(
    left: &[usize],
    values: &[Vec<f32>],
    sums: &[f32],
    count: usize,
    found: &dyn Fn(&[f32], usize) -> bool,
) -> bool {
    left.iter().any(|rank| {
        let value = &values[*rank];
        // 0 + value would lose the sign of -0.
        let sums: Vec<f32> =
            if count == 0 { value.clone() } else { sums.iter().zip(value).map(|(sum, value)| sum + value).collect() };
        let left: Vec<usize> = left.iter().copied().filter(|other| other != rank).collect();
        found(&sums, count + 1) || any_order(&left, values, &sums, count + 1, found)
    })
}

///
/// Checks a result. `whole`: nothing was lost.
///
/// # Errors
/// The first beat whose elements are not means in one order.
pub fn check(bits: &[u32], gradients: &[Vec<f32>], whole: bool, missing: &[(usize, usize)]) -> Result<(), String> {
    if gradients.iter().any(|gradient| gradient.len() != bits.len()) {
        return Err(format!("{} elements, expected as many as a gradient has", bits.len()));
    }
    let came = |at: &usize| !missing.iter().any(|(start, end)| (*start..*end).contains(at));
    for start in (0..bits.len()).step_by(BEAT) {
        let elements: Vec<usize> = (start..(start + BEAT).min(bits.len())).filter(came).collect();
        let found: Vec<u32> = elements.iter().map(|at| bits[*at]).collect();
        let values: Vec<Vec<f32>> =
            gradients.iter().map(|gradient| elements.iter().map(|at| gradient[*at]).collect()).collect();
        if !are_means(&found, &values, whole) {
            let of = if whole { "all" } else { "some" };
            let found: Vec<f32> = found.into_iter().map(f32::from_bits).collect();
            return Err(format!(
                "elements {elements:?} are {found:?}, in no order the means of {of} ranks, whose values are {values:?}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_order_allows_one_sum() {
        let gradients: Vec<Vec<f32>> = [1e8, 1.0, -1e8].iter().map(|value| vec![*value; 20]).collect();
        let line = |cookie, stage, position, sender| {
            format!(
                "{{\"card\":0,\"at_ns\":1,\"cookie\":{cookie},\"stage\":{stage},\"position\":{position},\"sender\":{sender}}}\n"
            )
        };
        let lines = [
            line(65536, 0, 1, 0),
            line(65536, 0, 1, 2),
            line(65536, 2, 0, 1),
            line(65536, 0, 1, 1),
            line(131_072, 0, 0, 1),
        ];
        let found = orders(&lines.concat()).unwrap();
        assert_eq!(found, [BTreeMap::from([(1, vec![0, 2, 1])]), BTreeMap::from([(0, vec![1])])]);
        let third = (1.0_f32 / 3.0).to_bits();
        let mut bits = vec![0; 20];
        bits[16..].fill(third);
        assert_eq!(check_order(&bits, &gradients, &found[0], &[]), Ok(4));
        // Another order of 1e8 + 1 - 1e8 has another sum.
        let other = BTreeMap::from([(1, vec![0, 1, 2])]);
        assert!(check_order(&bits, &gradients, &other, &[]).unwrap_err().starts_with("element 16 is 0.33"));
        bits[18] ^= 1;
        assert!(check_order(&bits, &gradients, &found[0], &[]).unwrap_err().starts_with("element 18 is "));
        assert_eq!(check_order(&bits, &gradients, &found[0], &[(18, 19)]), Ok(3));
        let twice = BTreeMap::from([(1, vec![0, 2, 0])]);
        assert!(check_order(&bits, &gradients, &twice, &[]).unwrap_err().contains("rank 0 was added twice"));
        let stranger = BTreeMap::from([(1, vec![3])]);
        assert!(check_order(&bits, &gradients, &stranger, &[]).unwrap_err().contains("of an unknown rank"));
        assert!(orders("{}").is_err() && orders(&line(65537, 0, 0, 0)).is_err());
    }

    #[test]
    fn means_in_any_order_are_told_from_what_is_none() {
        // The result of 1e8 + 1 - 1e8 depends on the order.
        let values = [1e8, 1.0, -1e8, 3.0];
        let mean = |order: &[usize]| {
            let sum = order[1..].iter().fold(values[order[0]], |sum, rank| sum + values[*rank]);
            (sum * (1.0 / order.len() as f32)).to_bits()
        };
        assert!(mean(&[0, 1, 2, 3]) != mean(&[0, 2, 1, 3]));
        let each = values.map(|value| vec![value]);
        let is_a_mean = |bits, whole| are_means(&[bits], &each, whole);
        for order in [[0, 1, 2, 3], [0, 2, 1, 3], [3, 1, 2, 0]] {
            assert!(is_a_mean(mean(&order), true));
        }
        assert!(is_a_mean(mean(&[1, 3]), false) && !is_a_mean(mean(&[1, 3]), true));
        assert!(is_a_mean(mean(&[2]), false));
        assert!(!is_a_mean(mean(&[1, 3]) ^ 1, false) && !is_a_mean(7.0_f32.to_bits(), false));
        let gradients: Vec<Vec<f32>> = values.iter().map(|value| vec![*value; 2]).collect();
        let right = mean(&[0, 1, 2, 3]);
        assert!(check(&[right, right], &gradients, true, &[]).is_ok());
        let said = check(&[right, right ^ 1], &gradients, true, &[]).unwrap_err();
        assert!(said.starts_with("elements [0, 1] are "), "{said}");
        assert!(check(&[right, right ^ 1], &gradients, true, &[(1, 2)]).is_ok());
        assert!(check(&[right], &gradients, true, &[]).is_err());
        // Different orders for two beats.
        let other = mean(&[0, 2, 1, 3]);
        let gradients = values.map(|value| vec![value; BEAT + 1]);
        let mut bits = [vec![right; BEAT], vec![other]].concat();
        assert!(check(&bits, &gradients, true, &[]).is_ok());
        bits[1] = other;
        assert!(check(&bits, &gradients, true, &[]).is_err() && check(&bits, &gradients, true, &[(1, 2)]).is_ok());
    }
}
