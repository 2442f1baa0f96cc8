//! What a result may be, from the gradients alone: it shares no code with the library.
//!
//! The mean of an element is the sum of some ranks' values, fp32, rounded after each addition, times the reciprocal of their number. In which
//! order values come is up to the network, so every order is allowed; and, where something was reported lost, every set of ranks. Where a card has
//! recorded what it added, in order, only that is ([`check_order`]).

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

/// Whether `bits` is a mean of `values`, one of each rank; of all of them if `whole`, and else of some.
pub fn is_a_mean(bits: u32, values: &[f32], whole: bool) -> bool {
    let mut seen = false;
    visit(values, (1 << values.len()) - 1, None, 0, &mut |sum, used, count| {
        let allowed = !whole || used == (1 << values.len()) - 1;
        seen |= allowed && (sum * (1.0 / count as f32)).to_bits() == bits;
        seen
    });
    seen
}

/// Every sum of one value or more of those `left`, after `sum` of `count` values; until `found` says so.
fn visit(
    values: &[f32],
    left: u32,
    sum: Option<f32>,
    count: u32,
    found: &mut dyn FnMut(f32, u32, u32) -> bool,
) -> bool {
    let all = (1 << values.len()) - 1;
    for (rank, value) in values.iter().enumerate().filter(|(rank, _)| left >> rank & 1 == 1) {
        let next = sum.map_or(*value, |sum| sum + value);
        let left = left & !(1 << rank);
        if found(next, all & !left, count + 1) || visit(values, left, Some(next), count + 1, found) {
            return true;
        }
    }
    false
}

/// Checks a result: `whole`, nothing of it may be lost; `missing`, these elements were said not to have come.
///
/// # Errors
/// The first element that is no mean.
pub fn check(bits: &[u32], gradients: &[Vec<f32>], whole: bool, missing: &[(usize, usize)]) -> Result<(), String> {
    if gradients.iter().any(|gradient| gradient.len() != bits.len()) {
        return Err(format!("{} elements, expected as many as a gradient has", bits.len()));
    }
    for (at, found) in bits.iter().enumerate() {
        if missing.iter().any(|(start, end)| (*start..*end).contains(&at)) {
            continue;
        }
        let values: Vec<f32> = gradients.iter().map(|gradient| gradient[at]).collect();
        if !is_a_mean(*found, &values, whole) {
            let of = if whole { "all" } else { "some" };
            return Err(format!("element {at} is {}, which is no mean of {of} of {values:?}", f32::from_bits(*found)));
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
        for order in [[0, 1, 2, 3], [0, 2, 1, 3], [3, 1, 2, 0]] {
            assert!(is_a_mean(mean(&order), &values, true));
        }
        assert!(is_a_mean(mean(&[1, 3]), &values, false) && !is_a_mean(mean(&[1, 3]), &values, true));
        assert!(is_a_mean(mean(&[2]), &values, false));
        assert!(!is_a_mean(mean(&[1, 3]) ^ 1, &values, false) && !is_a_mean(7.0_f32.to_bits(), &values, false));
        let gradients: Vec<Vec<f32>> = values.iter().map(|value| vec![*value; 2]).collect();
        let right = mean(&[0, 1, 2, 3]);
        assert!(check(&[right, right], &gradients, true, &[]).is_ok());
        let said = check(&[right, right ^ 1], &gradients, true, &[]).unwrap_err();
        assert!(said.starts_with("element 1 is "), "{said}");
        assert!(check(&[right, right ^ 1], &gradients, true, &[(1, 2)]).is_ok());
        assert!(check(&[right], &gradients, true, &[]).is_err());
    }
}
