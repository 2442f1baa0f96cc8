//! Where a card is, as users say it.

use crate::control::LaunchError;

/// The variable that may name the card.
const VARIABLE: &str = "OPTIREDUCE_CARD";

/// What the environment says; nothing if it is not set or empty.
///
/// # Errors
/// If it is no text.
pub(crate) fn from_env() -> Result<String, LaunchError> {
    std::env::var_os(VARIABLE).unwrap_or_default().into_string().map_err(|found| LaunchError::Invalid {
        name: VARIABLE,
        found: found.to_string_lossy().into_owned(),
        expected: "a PCI address, or a path in UTF-8".into(),
    })
}
