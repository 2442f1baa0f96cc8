//! Card settings that no build accepts. Jobs with cards are in `sim/tests/jobs`.

mod root;

use optireduce::{Communicator, Error, ErrorKind, Settings};

use root::free_root;

fn place() -> Settings {
    Settings::new().rank(1).world_size(2).root(free_root())
}

fn refused(card: &str) -> Error {
    Communicator::connect(place().card(card)).wait().unwrap_err()
}

/// With the feature there is no server at the socket; without it the feature is missing.
#[test]
fn a_card_that_is_not_there_is_an_error_before_anybody_is_waited_for() {
    let error = refused("/nowhere/card.{rank}.sock");
    let text = error.to_string();
    let kind = if cfg!(feature = "smartnic") { ErrorKind::System } else { ErrorKind::Unsupported };
    assert!(error.kind() == kind && text.contains("/nowhere/card.1.sock"), "{text}");
    let expected =
        if cfg!(feature = "smartnic") { "cannot connect" } else { "was built without the feature `smartnic`" };
    assert!(text.contains(expected), "{text}");
    let pci = refused("00ff:fe:1f.7").to_string();
    let expected =
        if cfg!(feature = "smartnic") { "there is no PCI device at 00ff:fe:1f.7" } else { "feature `smartnic`" };
    assert!(pci.contains(expected), "{pci}");
}

#[test]
fn an_address_of_a_card_is_part_of_the_card() {
    let form = "IP[/PREFIX][:PORT][,gateway=MAC] (a prefix only with a gateway, and vice versa)";
    for (card, expected) in [
        ("/nowhere/card.sock,address=10.0.0.2/24", form),
        ("/nowhere/card.sock,gateway=52:54:00:12:34:56", "with a gateway only after an address"),
        (",address=10.0.0.{rank}", "WHERE[,address="),
    ] {
        let text = refused(card).to_string();
        assert!(text.starts_with(&format!("card is {card}, expected WHERE")) && text.contains(expected), "{text}");
    }
    // A valid address is passed on to the card, which is not there.
    let text = refused("/nowhere/card.sock,address=10.0.0.{rank}").to_string();
    assert!(text.contains("/nowhere/card.sock") && !text.contains("10.0.0"), "{text}");
}

#[cfg(feature = "secret")]
#[test]
fn a_card_and_a_secret_are_refused_together() {
    let secret = optireduce::Secret::new([7; 32]).unwrap();
    let text = Communicator::connect(place().secret(secret).card("/nowhere/card.sock")).wait().unwrap_err().to_string();
    assert!(text.starts_with("a secret was given (by OPTIREDUCE_SECRET or a setting), but cards cannot"), "{text}");
}
