//! What a result may be, from the gradients alone: it shares no code with the library.
//!
//! The mean of an element is the sum of some ranks' values, fp32, rounded after each addition, times the reciprocal of their number. In which
//! order values come is up to the network, so every order is allowed, but one for all elements of a beat; and, where something was reported lost,
//! every set of ranks. Where a card has recorded what it added, in order, only that is ([`check_order`]).

use std::collections::BTreeMap;

use serde::Deserialize;

/// Values that travel together, to the same rank at the same time.
const BEAT: usize = 16;

/// A line of what a card accepted, as `optireduce-sim serve --trace` writes it.
#[derive(Deserialize)]
struct Accepted {
    cookie: u32,
    stage: u8,
    position: usize,
    sender: usize,
}

/// Of each collective in order, by beat: the ranks whose values a card added, in order.
pub type Orders = Vec<BTreeMap<usize, Vec<usize>>>;

/// Reads what a card accepted in a job of one bucket in one window.
///
/// # Errors
/// If a line is none of such a trace, or of another window.
pub fn orders(trace: &str) -> Result<Orders, String> {
    let mut all = BTreeMap::<u32, BTreeMap<usize, Vec<usize>>>::new();
    for line in trace.lines() {
        let accepted: Accepted = serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}"))?;
        // Collective, and number of the window.
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

/// Checks the elements of a result that a card has aggregated: the sum of what it added in that order, fp32, times the reciprocal of their
/// number. How many they are.
///
/// # Errors
/// The first element that is something else, or a rank that was added twice.
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

/// Whether `bits` are means of `values`, some of each rank, all in one order; of all ranks if `whole`, and else of some.
fn are_means(bits: &[u32], values: &[Vec<f32>], whole: bool) -> bool {
    let ranks: Vec<usize> = (0..values.len()).collect();
    any_order(&ranks, values, &[], 0, &|sums, count| {
        let allowed = !whole || count == values.len();
        let is_mean = |(sum, bits): (&f32, &u32)| (sum * (1.0 / count as f32)).to_bits() == *bits;
        allowed && sums.iter().zip(bits).all(is_mean)
    })
}

/// Whether `found` says so of any sums of values of one rank or more of those `left`, after `sums` of `count` ranks.
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

/// Checks a result: `whole`, nothing of it may be lost; `missing`, these elements were said not to have come.
///
/// # Errors
/// The first beat whose elements are not all means, in one order.
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
        // 1e8 + 1 - 1e8 is something else.
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
        // 1e8 + 1 - 1e8: the order decides.
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
        // One order for a beat, another for the next.
        let other = mean(&[0, 2, 1, 3]);
        let gradients = values.map(|value| vec![value; BEAT + 1]);
        let mut bits = [vec![right; BEAT], vec![other]].concat();
        assert!(check(&bits, &gradients, true, &[]).is_ok());
        bits[1] = other;
        assert!(check(&bits, &gradients, true, &[]).is_err() && check(&bits, &gradients, true, &[(1, 2)]).is_ok());
    }
}
