//! Agreement of ranks on members, over reliable channels with random delays, in virtual time.
//!
//! The cluster (`cluster.rs`) runs collectives on every rank, and crashes, restarts and cuts off
//! ranks. It checks these invariants from outside:
//!
//! - A view number has one view.
//! - No rank of a view runs a collective of that view in another one.
//! - A quorum of each view is in the next view.
//! - Every request is met, unless its rank crashes.
//!
//! Failures name their seed; `run(seed)` replays it.

mod cluster;
mod one_rank;

use std::collections::BTreeSet;

use optireduce_contract::signs::splitmix64;
use optireduce_core::protocol::membership::{MembershipMessage, Request, Settings};
use optireduce_core::protocol::{MembershipParams, Ranks};

use cluster::{Cluster, Event, OP_NS, SETTINGS, cluster, mask, params, set};

const TRANSFORM: Request = Request { hadamard: Some(true), bound_ns: None, fallback: false };

#[test]
fn without_faults_the_first_view_stays_and_nobody_waits() {
    let mut cluster = Cluster::new("quiet", MembershipParams { lead_ops: 64, ..params(4) }, 20_000, 1);
    cluster.run_for(1000 * OP_NS);
    assert_eq!((cluster.views.len(), cluster.waits), (1, 0));
    assert!(cluster.ranks.iter().all(|rank| rank.op > 900 && rank.silent_reported.is_empty()));
    // Progress messages every 16 collectives to 3 peers.
    assert!(cluster.messages <= 1050 / 16 * 4 * 3, "{} messages", cluster.messages);
}

#[test]
fn a_silent_rank_is_reported_after_three_collectives_and_dropped_by_all_at_once() {
    let mut cluster = cluster("crash of rank 3", 4);
    cluster.run_for(50 * OP_NS);
    cluster.crash(3);
    let (op_min, op_max) =
        (0..3).map(|rank| cluster.ranks[rank].op).fold((u32::MAX, 0), |(min, max), op| (min.min(op), max.max(op)));
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    let view = cluster.newest(0);
    assert_eq!((view.number, mask(&view.ranks), view.joined), (1, 0b0111, None));
    // Three silent collectives and one during the agreement.
    assert!((op_min + 3..=op_max + 6).contains(&view.first_op), "{op_min} to {op_max}: {view:?}");
    assert!((0..3).all(|rank| cluster.ranks[rank].silent_reported.iter().eq([3])));
    assert_eq!((view.live().collect::<Vec<_>>(), view.has(3)), (vec![0, 1, 2], false));
}

#[test]
fn a_dead_rank_of_a_hundred_is_dropped_and_may_come_back() {
    for (seed, dead) in [(1, 99), (2, 0), (3, 64)] {
        // Some of a hundred ranks are always a few collectives behind.
        let params = MembershipParams { silent_ns: 20 * OP_NS, ..params(100) };
        let mut cluster = Cluster::new(&format!("rank {dead} of 100, seed {seed}"), params, 20_000, seed);
        cluster.run_for(10 * OP_NS);
        cluster.crash(dead);
        assert!(cluster.run_until(1_000_000_000, Cluster::is_settled), "{}", cluster.name);
        let others: Vec<_> = (0..100).filter(|rank| *rank != dead).collect();
        let view = cluster.newest(others[0]);
        assert_eq!((view.number, view.live().collect::<Vec<_>>()), (1, others.clone()), "{}", cluster.name);
        let reports =
            others.iter().map(|rank| &cluster.ranks[*rank].silent_reported).filter(|silent| !silent.is_empty());
        let reports: Vec<_> = reports.collect();
        assert!(reports.len() > 49 && reports.iter().all(|silent| silent.iter().eq([dead])), "{}", cluster.name);
        cluster.restart(dead);
        assert!(cluster.run_until(2_000_000_000, Cluster::is_settled), "{}", cluster.name);
        assert_eq!(cluster.newest(dead).ranks, Ranks::all(100), "{}", cluster.name);
        cluster.check_views();
    }
}

#[test]
fn the_next_rank_takes_over_from_a_dead_coordinator() {
    let mut cluster = cluster("crash of rank 0", 5);
    cluster.run_for(50 * OP_NS);
    cluster.crash(0);
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    assert_eq!(mask(&cluster.newest(1).ranks), 0b11110);
    cluster.crash(1);
    assert!(cluster.run_until(2_000_000_000, Cluster::is_settled));
    assert_eq!((cluster.newest(2).number, mask(&cluster.newest(2).ranks)), (2, 0b11100));
}

#[test]
fn an_agreement_survives_the_coordinator_that_began_it() {
    for sent in 1..12 {
        let mut cluster = cluster("crash in an agreement", 5);
        cluster.run_for(50 * OP_NS);
        cluster.crash(4);
        let begun = |cluster: &Cluster| cluster.ranks[0].membership.next_timeout().is_some();
        assert!(cluster.run_until(1_000_000_000, begun));
        let messages = cluster.messages;
        assert!(cluster.run_until(1_000_000_000, |cluster| cluster.messages >= messages + sent));
        cluster.crash(0);
        assert!(cluster.run_until(5_000_000_000, Cluster::is_settled), "{sent} messages after the first");
        assert_eq!(mask(&cluster.newest(1).ranks), 0b01110);
        cluster.check_views();
    }
}

#[test]
fn a_minority_waits_for_ever_and_the_majority_goes_on() {
    let mut cluster = cluster("two of five left", 5);
    cluster.run_for(50 * OP_NS);
    for rank in [0, 2, 4] {
        cluster.crash(rank);
    }
    cluster.run_for(2_000_000_000);
    assert_eq!(cluster.views.len(), 1);
    assert!(cluster.ranks[1].op < 50 * 2 + 16 + 3, "collective {}", cluster.ranks[1].op);
    assert!(cluster.ranks[1].membership.next_timeout().is_some());

    let mut cluster = self::cluster("cut in two and three", 5);
    cluster.run_for(50 * OP_NS);
    cluster.deaf = vec![0b11100, 0b11100, 0b00011, 0b00011, 0b00011];
    cluster.run_for(20_000_000);
    // A view with rank 0 or 1, which keep asking to join, contains the other three.
    let (first, majority) = (&cluster.views[&1], set(0b11100, 5));
    assert!(first.ranks == majority || first.ranks.len() == 4, "{first:?}");
    assert!(cluster.views.values().all(|view| view.ranks.is_superset(&majority)), "{:?}", cluster.views);
    cluster.check_views();
}

#[test]
fn of_two_ranks_only_the_lower_goes_on_alone() {
    for (crashed, views) in [(1, 2), (0, 1)] {
        let mut cluster = cluster("two ranks", 2);
        cluster.run_for(50 * OP_NS);
        cluster.crash(crashed);
        cluster.run_for(1_000_000_000);
        assert_eq!(cluster.views.len(), views, "rank {crashed} crashed");
    }
}

#[test]
fn a_rank_that_was_dropped_comes_back_with_the_next_view() {
    let mut cluster = cluster("come back", 4);
    cluster.run_for(50 * OP_NS);
    cluster.crash(2);
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    cluster.run_for(100 * OP_NS);
    cluster.restart(2);
    assert!(cluster.run_until(2_000_000_000, Cluster::is_settled));
    let view = cluster.newest(0);
    assert_eq!((view.number, mask(&view.ranks), view.joined.map(|joined| joined.0)), (2, 0b1111, Some(2)));
    cluster.crash(0);
    assert!(cluster.run_until(3_000_000_000, Cluster::is_settled));
    assert_eq!(mask(&cluster.newest(2).ranks), 0b1110);
    cluster.check_views();
}

#[test]
fn a_rank_started_anew_before_it_was_missed_is_dropped_at_once_and_joins() {
    for restarted in 0..3 {
        let mut cluster = cluster("quick restart", 3);
        cluster.run_for(50 * OP_NS);
        let op = cluster.ranks.iter().map(|rank| rank.op).max().unwrap();
        cluster.crash(restarted);
        cluster.restart(restarted);
        assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
        let (without, view) = (&cluster.views[&1], cluster.newest(restarted));
        assert!(!without.has(restarted) && without.first_op <= op + 3, "from {op}, not after a lead: {without:?}");
        let joined = view.joined.map(|joined| joined.0);
        assert_eq!((view.number, joined), (2, Some(restarted as u16)), "{view:?}");
        // A late copy of the join request changes nothing.
        let (now_ns, incarnation) = (cluster.now_ns, view.joined.unwrap().1);
        for rank in (0..3).filter(|rank| *rank != restarted) {
            let late = MembershipMessage::Join { incarnation };
            cluster.ranks[rank].membership.handle_message(now_ns, restarted, late).unwrap();
            cluster.poll(rank);
        }
        cluster.run_for(100 * OP_NS);
        assert_eq!(cluster.views.len(), 3);
    }
}

/// Runs a random job with crashes (also of two ranks during one agreement), restarts and outages.
/// After the last fault all live ranks must share one view, unless no quorum of the newest view is
/// left. Returns the number of views, and whether they do.
fn run(seed: u64) -> (usize, bool) {
    let mut draws = (0..).map(|turn| splitmix64(seed << 16 | turn));
    let mut draw = |below: u64| draws.next().unwrap() % below;
    let ranks = 2 + draw(8) as usize;
    let delay_ns_max = [20_000, 1_000_000, 30_000_000][draw(3) as usize];
    let lead_ops = [4, 16, 64][draw(3) as usize];
    let retry_ns = [200_000, 5_000_000, 50_000_000][draw(3) as usize];
    let silent_ns = 4 * delay_ns_max;
    let params = MembershipParams { silent_ns, lead_ops, retry_ns, ..MembershipParams::new(ranks) };
    let name = format!("seed {seed}: {ranks} ranks, delay {delay_ns_max} ns, {params:?}");
    let mut cluster = Cluster::new(&name, params, delay_ns_max, splitmix64(seed));
    for _ in 0..1 + draw(8) {
        let pause_ns = [2_000_000, 60_000_000, 200_000_000][draw(3) as usize];
        cluster.run_for(draw(pause_ns));
        let rank = draw(ranks as u64) as usize;
        match draw(9) {
            6 => cluster.request(rank, TRANSFORM),
            7 => cluster.request_bounds(|_| 1 + draw(5)),
            8 => {
                let bound_ns = 1 + draw(5);
                cluster.request_bounds(|_| bound_ns);
            }
            0 => cluster.deaf[rank] = draw(1 << ranks).into(),
            1 => cluster.deaf.fill(0),
            _ if !cluster.ranks[rank].alive => cluster.restart(rank),
            _ => {
                let newest = cluster.newest_of_all();
                if newest.is_quorum(&set(cluster.members_alive() & !(1 << rank), ranks)) {
                    cluster.crash(rank);
                }
            }
        }
    }
    cluster.deaf.fill(0);
    let is_over = |cluster: &Cluster| cluster.is_settled() && cluster.are_requests_met();
    let mut settled = cluster.run_until(cluster.now_ns + 20_000_000_000, is_over);
    if !settled && cluster.newest_of_all().is_quorum(&set(cluster.members_alive(), ranks)) {
        settled = cluster.run_until(cluster.now_ns + 600_000_000_000, is_over);
        let newest: Vec<_> = cluster.ranks.iter().map(|rank| (rank.alive, rank.op, rank.membership.newest())).collect();
        let requests = &cluster.requests;
        assert!(settled, "{name}: no common view after ten minutes: {newest:?}, requests {requests:?}");
    }
    cluster.check_views();
    (cluster.views.len(), settled)
}

#[test]
fn a_request_is_met_at_the_same_collective_on_all_ranks_without_dropping_any() {
    for silent_ops in [Some(3), None] {
        let mut cluster = Cluster::new("requests", MembershipParams { silent_ops, ..params(5) }, 20_000, 1);
        cluster.run_for(50 * OP_NS);
        cluster.request(3, TRANSFORM);
        cluster.request_bounds(|_| 77);
        let requested_ns = cluster.now_ns;
        let is_met = |cluster: &Cluster| cluster.are_requests_met() && cluster.newest_of_all().settings.bound_ns == 77;
        assert!(cluster.run_until(requested_ns + 20 * OP_NS, is_met));
        assert!(cluster.run_until(requested_ns + 40 * OP_NS, Cluster::is_settled));
        let newest = cluster.newest(4);
        assert_eq!(newest.settings, Settings { hadamard: true, ..Settings::first(77) });
        assert_eq!((mask(&newest.ranks), newest.epoch, newest.job_tag(9)), (0b11111, 0, 9), "packets stay the same");
        let switched: BTreeSet<_> = cluster.used[&newest.first_op].iter().map(|(_, number)| *number).collect();
        assert_eq!(switched, [newest.number].into());
        let views = cluster.views.len();
        cluster.request(2, TRANSFORM);
        cluster.run_for(100 * OP_NS);
        assert_eq!(cluster.views.len(), views);
    }
}

#[test]
fn one_rank_that_asks_to_fall_back_is_enough_and_the_job_never_comes_back() {
    for seed in 0..50 {
        let mut cluster = Cluster::new(&format!("seed {seed}: the ranks fall back"), params(5), 20_000, seed);
        cluster.run_for((seed % 7) * OP_NS);
        let (asks, now_ns) = ((seed % 5) as usize, cluster.now_ns);
        cluster.requests.push((asks, Request { fallback: true, ..Request::default() }, 0));
        cluster.ranks[asks].membership.fall_back(now_ns);
        if seed % 2 == 1 {
            cluster.request(asks, TRANSFORM);
        }
        assert!(cluster.run_until(40 * OP_NS, Cluster::are_requests_met), "{}", cluster.name);
        assert!(cluster.run_until(60 * OP_NS, Cluster::is_settled), "{}", cluster.name);
        let first = cluster.views.values().find(|view| view.settings.fallback).unwrap().clone();
        let switched: BTreeSet<_> = cluster.used[&first.first_op].iter().map(|(_, number)| *number).collect();
        assert_eq!(switched, [first.number].into(), "{}", cluster.name);
        cluster.request_bounds(|_| 77);
        assert!(cluster.run_until(100 * OP_NS, |cluster| cluster.newest_of_all().settings.bound_ns == 77));
        assert!(cluster.newest_of_all().settings.fallback, "{}", cluster.name);
    }
}

#[test]
fn the_transform_ends_when_all_ranks_request_that_at_the_same_time() {
    const END: Request = Request { hadamard: Some(false), bound_ns: None, fallback: false };
    for seed in 0..50 {
        let mut cluster = Cluster::new(&format!("seed {seed}: the transform begins and ends"), params(5), 20_000, seed);
        cluster.run_for(50 * OP_NS);
        cluster.request(3, TRANSFORM);
        assert!(cluster.run_until(cluster.now_ns + 40 * OP_NS, |cluster| cluster.newest_of_all().settings.hadamard));
        cluster.run_for(40 * OP_NS);
        // All but one request the end, then also the last one after another has withdrawn.
        let (last, fickle) = ((seed % 5) as usize, ((seed + 1 + seed / 5 % 4) % 5) as usize);
        cluster.requests.clear();
        let ask = |cluster: &mut Cluster, rank: usize, request| {
            cluster.request(rank, request);
            cluster.run_for(30 * OP_NS);
            cluster.newest_of_all().settings.hadamard
        };
        for rank in (0..5).filter(|rank| *rank != last) {
            assert!(ask(&mut cluster, rank, END), "{}: {rank} asks, {last} does not", cluster.name);
        }
        assert!(ask(&mut cluster, fickle, Request::default()) && ask(&mut cluster, last, END), "{}", cluster.name);
        assert!(!ask(&mut cluster, fickle, END), "{}", cluster.name);
        let newest = cluster.newest_of_all();
        let switched: BTreeSet<_> = cluster.used[&newest.first_op].iter().map(|(_, number)| *number).collect();
        assert_eq!(switched, [newest.number].into(), "{}", cluster.name);
    }
}

/// The next view may come from a rank that has not received the request. Ranks that still observe
/// the loss request it again.
#[test]
fn a_request_outlives_the_rank_that_made_it_once_the_next_coordinator_has_heard_it() {
    for (requester, coordinator, heard) in (0..32).flat_map(|heard| [(0, 1, heard), (2, 0, heard)]) {
        let mut cluster = cluster(&format!("rank {requester} requests and crashes, heard by {heard:#b}"), 5);
        cluster.run_for(50 * OP_NS);
        cluster.request(requester, TRANSFORM);
        cluster.ranks[requester].alive = false;
        cluster.requests.clear();
        let mut requests = 0;
        cluster.events.retain(|_, event| match event {
            Event::Deliver { from, to, message: MembershipMessage::Request { .. } } if *from == requester => {
                requests += 1;
                heard & 1 << *to != 0
            }
            Event::Deliver { from, .. } => *from != requester,
            Event::Step(_) => true,
        });
        assert_eq!(requests, 4, "{}", cluster.name);
        assert!(cluster.run_until(5_000_000_000, Cluster::is_settled), "{}", cluster.name);
        cluster.run_for(100 * OP_NS);
        let on = cluster.newest_of_all().settings.hadamard;
        assert!(on || heard & 1 << coordinator == 0, "{}: {:?}", cluster.name, cluster.views);
        assert!(!on || heard & !(1 << requester) != 0, "{}: {:?}", cluster.name, cluster.views);
        cluster.check_views();
    }
}

#[test]
fn a_rank_that_joins_late_learns_the_settings_from_its_view() {
    let mut cluster = cluster("late joiner", 4);
    cluster.run_for(50 * OP_NS);
    cluster.crash(3);
    assert!(cluster.run_until(1_000_000_000, Cluster::is_settled));
    cluster.request(1, TRANSFORM);
    cluster.request_bounds(|_| 77);
    let is_met = |cluster: &Cluster| cluster.are_requests_met() && cluster.newest_of_all().settings.bound_ns == 77;
    assert!(cluster.run_until(2_000_000_000, |cluster| cluster.is_settled() && is_met(cluster)));
    cluster.restart(3);
    assert!(cluster.run_until(3_000_000_000, Cluster::is_settled));
    let newest = cluster.newest(3);
    assert_eq!((mask(&newest.ranks), newest.settings), (0b1111, Settings { hadamard: true, ..Settings::first(77) }));
    assert_eq!(newest.epoch, newest.number, "other members, other packets");
    cluster.check_views();
}

/// The bound is the second largest request; one rank may be missing.
#[test]
fn neither_a_rank_that_says_nothing_nor_one_that_lies_sets_the_bound() {
    let bound_of = |ranks: usize, asks: &[Option<u64>]| {
        let mut cluster = cluster(&format!("{ranks} ranks ask for {asks:?}"), ranks);
        cluster.run_for(50 * OP_NS);
        for (rank, bound_ns) in asks.iter().enumerate() {
            let request = Request { bound_ns: *bound_ns, ..Request::default() };
            cluster.ranks[rank].membership.request(cluster.now_ns, request);
            cluster.poll(rank);
        }
        cluster.run_for(100 * OP_NS);
        cluster.check_views();
        cluster.newest_of_all().settings.bound_ns
    };
    let unchanged = SETTINGS.bound_ns;
    for liar in 0..4 {
        for lie in [1, u64::from(u32::MAX)] {
            let mut asks = [Some(70), Some(71), Some(72), Some(73)];
            asks[liar] = Some(lie);
            assert!((70..=73).contains(&bound_of(4, &asks)), "rank {liar} says {lie}");
            let silent = (liar + 1) % 4;
            asks[silent] = None;
            assert!((70..=73).contains(&bound_of(4, &asks)), "rank {liar} says {lie}, rank {silent} nothing");
            asks[(liar + 2) % 4] = None;
            assert_eq!(bound_of(4, &asks), unchanged, "two of four say nothing: {asks:?}");
        }
    }
    assert_eq!(bound_of(2, &[Some(70), None]), unchanged);
    assert_eq!(bound_of(2, &[Some(70), Some(90)]), 90);
    assert_eq!(bound_of(3, &[Some(70), Some(90), Some(80)]), 80);
}

/// One rank that requests both is enough. Its bound counts up to twice the present one.
#[test]
fn the_transform_comes_with_the_bound_that_it_takes() {
    let settings_of = |asks: &[(Option<bool>, Option<u64>)]| {
        let mut cluster = cluster(&format!("ranks ask for {asks:?}"), 4);
        cluster.run_for(50 * OP_NS);
        for (rank, (hadamard, bound_ns)) in asks.iter().enumerate() {
            let request = Request { hadamard: *hadamard, bound_ns: *bound_ns, fallback: false };
            cluster.ranks[rank].membership.request(cluster.now_ns, request);
            cluster.poll(rank);
        }
        if let Some((Some(true), _)) = asks.first() {
            cluster.ranks[0].membership.request(cluster.now_ns, Request::default());
            cluster.poll(0);
        }
        cluster.run_for(100 * OP_NS);
        cluster.check_views();
        let Settings { hadamard, bound_ns, .. } = cluster.newest_of_all().settings;
        (hadamard, bound_ns)
    };
    let present_ns = SETTINGS.bound_ns;
    let on = |bound_ns| (Some(true), Some(bound_ns));
    assert_eq!(settings_of(&[on(2 * present_ns)]), (true, 2 * present_ns));
    assert_eq!(settings_of(&[on(present_ns + 1)]), (true, present_ns + 1));
    assert_eq!(settings_of(&[on(u32::MAX.into())]), (true, 2 * present_ns), "it lies");
    assert_eq!(settings_of(&[(Some(true), None)]), (true, present_ns));
    assert_eq!(settings_of(&[(None, Some(2 * present_ns))]), (false, present_ns), "without the transform");
}

#[test]
fn a_rank_may_take_back_the_bound_that_it_asked_for() {
    let mut cluster = cluster("taken back", 3);
    cluster.run_for(50 * OP_NS);
    for (rank, bound_ns) in [(0, Some(77)), (0, None), (1, Some(78))] {
        cluster.ranks[rank].membership.request(cluster.now_ns, Request { bound_ns, ..Request::default() });
        cluster.poll(rank);
        cluster.run_for(20 * OP_NS);
    }
    assert_eq!(cluster.views.len(), 1, "one of three asks: {:?}", cluster.views);
    cluster.ranks[2].membership.request(cluster.now_ns, Request { bound_ns: Some(79), ..Request::default() });
    cluster.poll(2);
    cluster.run_for(100 * OP_NS);
    assert_eq!(cluster.newest_of_all().settings.bound_ns, 79);
}

#[test]
fn fixed_ranks_agree_on_settings_whoever_crashes_and_however_late_messages_are() {
    let (mut views, mut met) = (0, 0);
    for seed in 0..700 {
        let mut draws = (0..).map(|turn| splitmix64(seed << 16 | turn));
        let mut draw = |below: u64| draws.next().unwrap() % below;
        let ranks = 1 + draw(8) as usize;
        let delay_ns_max = [20_000, 1_000_000, 30_000_000][draw(3) as usize];
        let retry_ns = [200_000, 5_000_000, 50_000_000][draw(3) as usize];
        let params = MembershipParams { silent_ops: None, silent_ns: 0, retry_ns, ..params(ranks) };
        let name = format!("seed {seed}: {ranks} fixed ranks, delay {delay_ns_max} ns, {params:?}");
        let mut cluster = Cluster::new(&name, params, delay_ns_max, splitmix64(seed));
        for _ in 0..1 + draw(8) {
            let pause_ns = [2_000_000, 60_000_000][draw(2) as usize];
            cluster.run_for(draw(pause_ns));
            let rank = draw(ranks as u64) as usize;
            match draw(4) {
                _ if !cluster.ranks[rank].alive => {}
                0 if cluster.newest_of_all().is_quorum(&set(cluster.live() & !(1 << rank), ranks)) => {
                    cluster.crash(rank)
                }
                1 => cluster.request_bounds(|_| 1 + draw(5)),
                _ => cluster.request(rank, TRANSFORM),
            }
        }
        let is_over = |cluster: &Cluster| {
            let newest: BTreeSet<_> =
                (0..ranks).filter(|rank| cluster.ranks[*rank].alive).map(|rank| cluster.newest(rank).number).collect();
            newest.len() == 1 && cluster.are_requests_met()
        };
        assert!(cluster.run_until(cluster.now_ns + 600_000_000_000, is_over), "{name}: {:?}", cluster.requests);
        cluster.check_views();
        assert!(cluster.views.values().all(|view| view.epoch == 0 && view.ranks == cluster.views[&0].ranks), "{name}");
        views += cluster.views.len();
        met += cluster.requests.len();
    }
    assert!(views > 1400 && met > 1400, "{views} views, {met} requests: nothing happens");
}

#[test]
fn whoever_crashes_and_however_late_messages_are_live_ranks_end_in_one_view() {
    let (mut views, mut settled, seeds) = (0, 0, 700);
    for seed in 0..seeds {
        let (seed_views, seed_settled) = run(seed);
        views += seed_views;
        settled += usize::from(seed_settled);
    }
    println!("{views} views, {settled} of {seeds} seeds ended in one view");
    assert!(views > 3 * seeds as usize, "only {views} views: the faults do nothing");
    assert!(settled > seeds as usize * 9 / 10, "only {settled} of {seeds} seeds had a quorum in the end");
}
