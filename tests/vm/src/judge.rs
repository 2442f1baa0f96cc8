//! What a result may be, from the gradients alone: it shares no code with the library.
//!
//! The mean of an element is the sum of some ranks' values, fp32, rounded after each addition, times the reciprocal of their number. In which
//! order values come is up to the network, so every order is allowed; and, where something was reported lost, every set of ranks.

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
