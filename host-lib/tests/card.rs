//! Card settings that no build accepts. Jobs with cards are in `sim/tests/jobs`.

mod root;

use optireduce::{CardError, Communicator, ConnectError, Launch};

use root::free_root;

fn refused(card: &str) -> ConnectError {
    let launch = Launch::new(1, 2, free_root()).unwrap();
    Communicator::builder().launch(launch).card(card).connect().unwrap_err()
}

/// With the feature there is no server at the socket; without it the feature is missing.
#[test]
fn a_card_that_is_not_there_is_an_error_before_anybody_is_waited_for() {
    let error = refused("/nowhere/card.{rank}.sock");
    let text = error.to_string();
    assert!(matches!(error, ConnectError::Card(_)) && text.contains("/nowhere/card.1.sock"), "{text}");
    let expected =
        if cfg!(feature = "smartnic") { "cannot connect" } else { "was built without the feature `smartnic`" };
    assert!(text.contains(expected), "{text}");
    let pci = refused("00ff:fe:1f.7").to_string();
    let expected =
        if cfg!(feature = "smartnic") { "there is no PCI device at 00ff:fe:1f.7" } else { "feature `smartnic`" };
    assert!(pci.contains(expected), "{pci}");
}

#[test]
fn an_address_for_a_card_that_the_rank_does_not_have_is_refused() {
    let launch = Launch::new(1, 2, free_root()).unwrap();
    let builder = Communicator::builder().launch(launch).card("").card_address("10.0.0.{rank}");
    let error = builder.connect().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ConnectError::Card(CardError::AddressWithoutCard { .. })), "{error:?}");
    assert!(text.starts_with("`card_address` is 10.0.0.1, but this rank has no card: set `card`"), "{text}");
}

#[cfg(feature = "secret")]
#[test]
fn a_card_and_a_secret_are_refused_together() {
    let launch = Launch::new(1, 2, free_root()).unwrap();
    let secret = optireduce::Secret::new([7; 32]).unwrap();
    let builder = Communicator::builder().launch(launch).secret(secret).card("/nowhere/card.sock");
    let text = builder.connect().unwrap_err().to_string();
    assert!(text.starts_with("a secret was given (by OPTIREDUCE_SECRET or a setting), but cards cannot"), "{text}");
}
