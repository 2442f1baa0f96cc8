//! Manifests: those in `bitstreams/`, a valid built one, and each kind of error.

#[path = "../../tests/fuzz/play/corpus.rs"]
mod corpus;
#[path = "../../tests/fuzz/play/manifests.rs"]
mod manifests;

use std::path::{Path, PathBuf};

use optireduce_driver::{Manifest, ManifestError, State};

/// SHA-256 of "abc": FIPS 180-2, appendix B.1.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn built() -> String {
    format!(
        "board = \"ECP5-85F\"\npart = \"LFE5U-85F-8BG756C\"\ncontract = 2\ngit = \"{}\"\nsha256 = \"{ABC}\"\n\
         tool = \"nextpnr-ecp5\"\ntool_version = \"0.9\"\nstate = \"built\"\nfmax_mhz = 125\n\
         [utilisation]\nlut = 60000\nff = 50000\nbram = 100.5\ndsp = 80\n",
        "0123456789abcdef0123456789abcdef01234567"
    )
}

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("manifests-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn load(name: &str, text: &str) -> Result<Manifest, ManifestError> {
    let path = scratch(name).join("manifest.toml");
    std::fs::write(&path, text).unwrap();
    Manifest::load(&path)
}

#[test]
fn a_built_manifest_is_read_and_knows_its_bitstream() {
    let manifest = load("built", &built()).unwrap();
    assert_eq!((manifest.board.as_str(), manifest.contract, manifest.state), ("ECP5-85F", 2, State::Built));
    assert_eq!((manifest.fmax_mhz, manifest.wns_ns), (Some(125.0), None));
    let utilisation = manifest.utilisation.unwrap();
    assert_eq!((utilisation.lut, utilisation.bram, utilisation.dsp), (60000, 100.5, 80));

    let bitstream = scratch("built").join("card.bit");
    std::fs::write(&bitstream, "abc").unwrap();
    manifest.verify(&bitstream).unwrap();
    std::fs::write(&bitstream, "abd").unwrap();
    let error = manifest.verify(&bitstream).unwrap_err().to_string();
    for part in ["card.bit: SHA-256 is a52d159f", ABC, "manifest.toml", "Build both again"] {
        assert!(error.contains(part), "{part:?} is missing in {error}");
    }
    assert!(matches!(manifest.verify(Path::new("nowhere.bit")), Err(ManifestError::Read { .. })));
}

#[test]
fn a_manifest_without_a_bitstream_verifies_none() {
    let text = "board = \"Alveo U250\"\npart = \"xcu250\"\ncontract = 2\ntool = \"Vivado\"\ntool_version = \"any\"\n\
                state = \"not built here\"\n";
    let manifest = load("unbuilt", text).unwrap();
    assert_eq!((manifest.state, manifest.sha256.as_ref()), (State::NotBuiltHere, None));
    let error = manifest.verify(Path::new("card.bit")).unwrap_err().to_string();
    assert!(error.contains("state is \"not built here\", expected \"built\""), "{error}");
}

#[test]
fn each_wrong_field_is_named_with_file_found_and_expected() {
    // Text to replace, its replacement, and a part of the message.
    let cases = [
        ("contract = 2", "contract = 1", "contract is 1, expected 2"),
        ("contract = 2", "", "missing field `contract`"),
        ("contract = 2", "contract = \"two\"", "invalid type: string \"two\", expected u32"),
        ("\"ECP5-85F\"", "\" \"", "board is empty, expected a name"),
        ("state = \"built\"", "state = \"planned\"", "unknown variant `planned`, expected `built` or `not built here`"),
        ("state = \"built\"", "state = \"not built here\"", "sha256 is present, expected none"),
        (ABC, "ba78", "sha256 is \"ba78\", expected 64 hexadecimal digits"),
        ("01234567\"", "0123456z\"", "expected 40 hexadecimal digits"),
        ("fmax_mhz = 125", "", "fmax_mhz or wns_ns is missing or ambiguous, expected exactly one"),
        ("fmax_mhz = 125", "fmax_mhz = 125\nwns_ns = 0.1", "fmax_mhz or wns_ns is missing or ambiguous"),
        ("fmax_mhz = 125", "fmax_mhz = nan", "fmax_mhz is NaN, expected a number"),
        ("bram = 100.5", "bram = -1", "bram is -1, expected a number"),
        ("dsp = 80", "", "missing field `dsp`"),
        ("[utilisation]", "[used]", "utilisation is missing or ambiguous"),
        ("board = ", "board ", "line 1"),
    ];
    for (at, (from, to, message)) in cases.into_iter().enumerate() {
        let text = built();
        assert!(text.contains(from), "{from}");
        let error = load(&format!("wrong{at}"), &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(message), "{to:?} should say {message:?}, says {error}");
        assert!(error.contains("manifest.toml: "), "{error}");
    }
    assert!(matches!(Manifest::load(Path::new("no/manifest.toml")), Err(ManifestError::Read { .. })));
}

#[test]
fn every_manifest_of_this_repository_can_be_used() {
    let boards = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bitstreams");
    for board in std::fs::read_dir(boards).unwrap() {
        let folder = board.unwrap().path();
        let path = folder.join("manifest.toml");
        if folder.is_dir() && path.exists() {
            let manifest = Manifest::load(&path).unwrap_or_else(|error| panic!("{error}"));
            for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
                if file.extension().is_some_and(|end| end == "bit") {
                    manifest.verify(&file).unwrap_or_else(|error| panic!("{error}"));
                }
            }
        }
    }
}

/// Replays the corpus of the fuzzer in `tests/fuzz`.
#[test]
fn whatever_a_manifest_holds_is_taken_whole_or_an_error() {
    corpus::replay("manifests", manifests::play);
}
