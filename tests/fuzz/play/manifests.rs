//! Manifests of bitstreams: an accepted one is complete, a refused one has an error message.

use std::path::Path;

use optireduce_driver::{Manifest, State};

pub fn play(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Manifest::parse(Path::new("manifest.toml"), text) {
        Ok(manifest) => {
            let is_built = manifest.state == State::Built;
            assert_eq!(is_built, manifest.sha256.is_some(), "{manifest:?}");
            assert!(!is_built || manifest.utilisation.is_some(), "{manifest:?}");
        }
        Err(error) => assert!(error.to_string().starts_with("manifest.toml: "), "{error}"),
    }
}
