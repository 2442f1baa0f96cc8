//! C programs compiled as users compile them.

mod built;
#[path = "../../tests/root/mod.rs"]
mod root;

use std::process::Output;

use built::{Link, bare, compile, finish, job, need, prefix, run};
use root::free_root;

const SANITIZE: [&str; 1] = ["-fsanitize=address,undefined"];

fn text(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    assert_eq!(error, "");
    out
}

/// Runs the example on four ranks, and checks that all end with the same weights.
fn run_example(link: Link, compiler: &str, flags: &[&str], environment: impl Fn(usize) -> Vec<(&'static str, String)>) {
    let program = compile(compiler, "examples/all_reduce.c", link, flags);
    for (rank, output) in job(&program, 4, environment).iter().enumerate() {
        let text = text(output);
        // 1 - 0.1 * (0 + 1 + 2 + 3 + 4 + 5 * 1.5)
        assert!(text.starts_with(&format!("rank {rank} of 4: the weights are -0.7500;")), "{text}");
    }
}

fn torchrun(rank: usize, root: &str) -> Vec<(&'static str, String)> {
    let (address, port) = root.split_once(':').unwrap();
    let address = [("MASTER_ADDR", address.to_owned()), ("MASTER_PORT", port.to_owned())];
    [("RANK", rank.to_string()), ("WORLD_SIZE", "4".into())].into_iter().chain(address).collect()
}

#[test]
fn the_example_runs_as_four_ranks_of_torchrun_with_the_shared_library() {
    let root = free_root();
    run_example(Link::Shared, "gcc", &[], |rank| torchrun(rank, &root));
}

#[test]
fn the_example_runs_as_four_ranks_of_mpirun_with_the_static_library() {
    let root = free_root();
    run_example(Link::Static, "gcc", &[], |rank| {
        let rank = ("OMPI_COMM_WORLD_RANK", rank.to_string());
        vec![rank, ("OMPI_COMM_WORLD_SIZE", "4".into()), ("OPTIREDUCE_ROOT", root.clone())]
    });
}

#[test]
fn the_example_runs_as_one_rank_without_a_launcher() {
    let program = compile("gcc", "examples/all_reduce.c", Link::Shared, &[]);
    let outputs = job(&program, 1, |_| vec![("OPTIREDUCE_WORLD_SIZE", "1".into())]);
    let text = text(&outputs[0]);
    assert!(text.starts_with("rank 0 of 1: the weights are "), "{text}");
}

#[test]
fn the_example_runs_under_mpirun_itself() {
    need("mpirun", "openmpi-bin");
    let program = compile("gcc", "examples/all_reduce.c", Link::Shared, &["-DMPIRUN"]);
    let root = format!("OPTIREDUCE_ROOT={}", free_root());
    let arguments = ["--allow-run-as-root", "--oversubscribe", "-x", &root, "-n", "4"];
    let text = run(bare("mpirun").args(arguments).arg(program));
    assert_eq!(text.matches(" of 4: the weights are -0.7500;").count(), 4, "{text}");
}

#[test]
fn the_example_is_clean_under_the_address_sanitizer() {
    let root = free_root();
    run_example(Link::Shared, "gcc", &SANITIZE, |rank| torchrun(rank, &root));
}

#[test]
fn clang_takes_the_header_and_the_example_too() {
    need("clang", "clang");
    let root = free_root();
    run_example(Link::Shared, "clang", &[], |rank| torchrun(rank, &root));
}

#[test]
fn the_header_is_good_in_cpp() {
    let program = compile("g++", "tests/c/header.cpp", Link::Shared, &[]);
    assert_eq!(run(&mut bare(program)), "done\n");
}

fn run_program(name: &str, flags: &[&str]) {
    let program = compile("gcc", &format!("tests/c/{name}.c"), Link::Shared, &[&["-D_GNU_SOURCE"], flags].concat());
    assert_eq!(text(&finish(bare(program).spawn().unwrap())), "done\n");
}

#[test]
fn every_collective_works_blocking_with_requests_and_with_callbacks() {
    run_program("collectives", &SANITIZE);
}

#[test]
fn exact_calls_and_messages_work_blocking_with_requests_and_with_callbacks() {
    run_program("exact", &SANITIZE);
}

#[test]
fn communicators_of_some_of_the_ranks_reduce_on_two_levels_and_end_by_themselves() {
    run_program("split", &SANITIZE);
}

#[test]
fn groups_of_ranks_average_their_models_exactly_where_sums_are_exact_and_end_with_their_communicator() {
    run_program("partial", &SANITIZE);
}

#[test]
fn allocated_memory_stays_where_it_is_and_is_copied_as_rarely_as_reports_say() {
    run_program("memory", &SANITIZE);
}

#[test]
fn every_wrong_use_has_a_status_and_a_text_that_names_it() {
    run_program("misuse", &SANITIZE);
}

#[test]
fn every_difference_between_ranks_is_an_error_on_all_of_them() {
    run_program("mismatch", &SANITIZE);
}

#[test]
fn calls_end_when_their_communicator_is_aborted_or_destroyed_by_another_thread() {
    run_program("ends", &SANITIZE);
}

#[test]
fn callbacks_may_call_the_library_and_a_process_may_end_at_any_time() {
    run_program("callbacks", &SANITIZE);
    let program = compile("gcc", "tests/c/callbacks.c", Link::Shared, &["-D_GNU_SOURCE"]);
    for how in ["exit", "return"] {
        assert_eq!(text(&finish(bare(&program).arg(how).spawn().unwrap())), "done\n", "{how}");
    }
}

#[test]
fn a_plugin_may_be_unloaded_while_threads_of_the_library_end() {
    // The sanitizers detect a use after unloading.
    for flags in [&[][..], &SANITIZE] {
        let program = compile("gcc", "tests/c/plugin.c", Link::Nothing, &[&["-D_GNU_SOURCE"], flags].concat());
        let output = finish(bare(program).arg(prefix().join("lib/liboptireduce.so")).spawn().unwrap());
        assert_eq!(text(&output), "done\n", "{flags:?}");
    }
}

#[test]
fn random_calls_from_many_threads_do_no_harm() {
    let program = compile("gcc", "tests/c/random.c", Link::Shared, &[&["-D_GNU_SOURCE"], &SANITIZE[..]].concat());
    let output = finish(bare(program).spawn().unwrap());
    let [out, seed] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success() && out.ends_with("done\n"), "{}\n{seed}{out}", output.status);
}

#[test]
fn forks_signals_cancellations_and_dead_ranks_are_survived() {
    run_program("processes", &[]);
    run_program("processes", &SANITIZE);
}

#[test]
fn the_static_library_does_the_same() {
    let program = compile("gcc", "tests/c/collectives.c", Link::Static, &["-D_GNU_SOURCE"]);
    assert_eq!(text(&finish(bare(program).spawn().unwrap())), "done\n");
}

#[test]
fn what_is_installed_is_found_by_pkg_config_and_by_its_soname() {
    assert_eq!(built::pkg_config("Version"), [env!("CARGO_PKG_VERSION")]);
    let [major, minor] = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")];
    let program = compile("gcc", "examples/all_reduce.c", Link::Shared, &["-DSONAME"]);
    let needed = run(bare("readelf").arg("-d").arg(program));
    assert!(needed.contains(&format!("[liboptireduce.so.{major}.{minor}]")), "{needed}");
    let flags = run(bare("readelf").arg("-d").arg(prefix().join("lib/liboptireduce.so")));
    assert!(flags.contains("NODELETE"), "{flags}");
    need("pkg-config", "pkgconf");
    let libraries =
        run(bare("pkg-config").env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig")).args(["--libs", "optireduce"]));
    assert!(libraries.contains("-loptireduce"), "{libraries}");
}
