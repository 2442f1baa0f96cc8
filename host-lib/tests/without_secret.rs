//! A build without the feature `secret` refuses jobs with a secret.
#![cfg(not(feature = "secret"))]

mod environment;

use environment::has_no_secret;
use optireduce::{Communicator, ErrorKind, Secret, Settings};

const REFUSED: &str = "a secret was given, but this program was built without the feature `secret` of the crate \
    optireduce; build it with the feature, or run the job without a secret (unset OPTIREDUCE_SECRET) on a network that you trust";

#[test]
fn no_secret_can_be_made() {
    let from_file = Secret::from_file(std::env::current_exe().unwrap());
    for made in [Secret::new([7; 32]), Secret::new("short"), from_file] {
        assert_eq!(made.unwrap_err().to_string(), REFUSED);
    }
}

#[test]
fn a_secret_in_the_environment_is_refused_and_not_ignored() {
    if has_no_secret("a_secret_in_the_environment_is_refused_and_not_ignored") {
        assert!(Secret::from_env().unwrap().is_none());
        return;
    }
    assert_eq!(Secret::from_env().unwrap_err().kind(), ErrorKind::Unsupported);
    // No peer is running: the check precedes the bootstrap.
    let error = Communicator::connect(Settings::new().rank(1).world_size(2).root("127.0.0.1:9")).wait().unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Unsupported, REFUSED));
}
