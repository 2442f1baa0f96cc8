//! Reactions of a single rank to messages and silence, without a cluster.

use std::collections::BTreeSet;

use optireduce_core::protocol::membership::{Ballot, MembershipMessage, Output, Request, Settings};
use optireduce_core::protocol::{Membership, MembershipParams, RANKS_MAX, Ranks, View};

use super::cluster::{SETTINGS, params, set};

#[test]
fn messages_that_no_rank_can_have_sent_are_refused() {
    let mut membership = Membership::new(1, params(4), SETTINGS).unwrap();
    let view = View { number: 1, first_op: 20, ..View::first(Ranks::all(3), SETTINGS) };
    let outside = View { ranks: set(0b10111, 4), ..view.clone() };
    let bound_ns = |bound_ns| Settings { bound_ns, ..SETTINGS };
    let request = |bound_ns| Request { bound_ns: Some(bound_ns), ..Request::default() };
    let ballot = Ballot { attempt: 1, rank: 0 };
    for message in [
        MembershipMessage::Accept { ballot, view: View { ranks: set(0b10111, 4), ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { ranks: set(0, 4), ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { number: 0, ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { joined: Some((700, 1)), ..view.clone() } },
        MembershipMessage::Views { views: vec![view.clone(), View { number: 3, first_op: 40, ..view.clone() }] },
        MembershipMessage::Views { views: vec![view.clone(), View { number: 2, ..view.clone() }] },
        MembershipMessage::Views { views: vec![View { ranks: set(1 << 63, 4), ..view.clone() }] },
        MembershipMessage::Views { views: vec![View { epoch: 2, ..view.clone() }] },
        MembershipMessage::Views { views: vec![View { settings: bound_ns(0), ..view.clone() }] },
        MembershipMessage::Accept { ballot, view: View { settings: bound_ns(1 << 32), ..view.clone() } },
        MembershipMessage::Accept { ballot, view: View { ranks: Ranks::none(65).with([1]), ..view.clone() } },
        MembershipMessage::Promise { number: 0, ballot, next_op: 2, accepted: Some((ballot, outside)) },
        MembershipMessage::Suspect { number: 0, suspects: set(0b10000, 4) },
        MembershipMessage::Suspect { number: 0, suspects: Ranks::none(65) },
        MembershipMessage::Request { number: 0, request: request(0) },
        MembershipMessage::Request { number: 0, request: request(1 << 32) },
    ] {
        assert!(membership.handle_message(0, 0, message.clone()).is_err(), "{message:?}");
    }
    let error = membership.handle_message(0, 4, MembershipMessage::Join { incarnation: 1 }).unwrap_err();
    assert_eq!(error.to_string(), "membership message from rank 4: no such rank; expected one of a job of 4 ranks");
    assert_eq!(membership.newest().map(|view| view.number), Some(0));
    assert!(membership.poll().is_none());
    assert_eq!(
        Membership::new(4, params(4), SETTINGS).unwrap_err().to_string(),
        "job parameter rank is 4, expected 0 to 3"
    );
    let new = |ranks, settings| Membership::new(0, params(ranks), settings);
    assert!(new(RANKS_MAX + 1, SETTINGS).is_err() && new(RANKS_MAX, SETTINGS).is_ok());
    assert!(new(4, Settings { bound_ns: 0, ..SETTINGS }).is_err());
    let fixed = MembershipParams { silent_ops: None, ..params(4) };
    let mut membership = Membership::new(1, fixed, SETTINGS).unwrap();
    assert!(membership.handle_message(0, 0, MembershipMessage::Join { incarnation: 1 }).is_err());
}

#[test]
fn ranks_that_all_suspect_one_another_do_not_drop_below_a_quorum() {
    let mut membership = Membership::new(0, params(3), SETTINGS).unwrap();
    for op in 0..3 {
        assert!(membership.view_of(0, op).is_some());
        membership.observe(0, op, &Ranks::default(), &Ranks::all(3));
    }
    for (from, suspects) in [(1, 0b100), (2, 0b010)] {
        membership
            .handle_message(0, from, MembershipMessage::Suspect { number: 0, suspects: set(suspects, 3) })
            .unwrap();
    }
    let ballot = Ballot { attempt: 1, rank: 0 };
    membership
        .handle_message(0, 1, MembershipMessage::Promise { number: 0, ballot, next_op: 2, accepted: None })
        .unwrap();
    let accept = std::iter::from_fn(|| membership.poll()).find_map(|output| match output {
        Output::Send { message: MembershipMessage::Accept { view, .. }, .. } => Some(view),
        _ => None,
    });
    // Two of three suspect each of the others. Dropping both would leave no quorum.
    assert_eq!(accept, Some(View { number: 1, first_op: 3, epoch: 1, ..View::first(set(0b011, 3), SETTINGS) }));
    assert!(membership.view_of(0, 3).is_none(), "bound by its own promise");
}

#[test]
fn only_the_answer_to_its_last_wish_lets_a_rank_in() {
    let mut membership = Membership::outside(1, params(4)).unwrap();
    membership.join(0, 5);
    let view = View { number: 7, first_op: 20, joined: Some((1, 4)), epoch: 7, ..View::first(Ranks::all(4), SETTINGS) };
    let mut number_after = |views: &[View]| {
        membership.handle_message(0, 0, MembershipMessage::Views { views: views.to_vec() }).unwrap();
        membership.newest().map(|view| view.number)
    };
    assert_eq!(number_after(std::slice::from_ref(&view)), None, "an earlier incarnation's");
    assert_eq!(number_after(&[View { joined: Some((2, 5)), ..view.clone() }]), None, "another rank's");
    let answer = View { number: 8, first_op: 40, joined: Some((1, 5)), ..view.clone() };
    assert_eq!(number_after(&[view.clone(), answer.clone()]), Some(8));
    let without = View { number: 9, ranks: set(0b1101, 4), first_op: 60, joined: None, ..view.clone() };
    assert_eq!(number_after(&[view.clone(), answer.clone(), without.clone()]), None, "dropped");
    assert_eq!(number_after(&[view.clone(), answer.clone()]), None, "the answer to a wish is good once");
    let outputs: Vec<_> = std::iter::from_fn(|| membership.poll()).collect();
    assert_eq!(outputs[3..], [Output::View(answer), Output::Dropped]);
}

#[test]
fn quorums_of_a_view_always_share_a_rank() {
    for ranks in 1..1u128 << 7 {
        let view = View::first(set(ranks, 7), SETTINGS);
        let quorums: Vec<_> = (0..1 << 7).filter(|some| view.is_quorum(&set(*some, 7))).collect();
        assert!(quorums.iter().all(|one| quorums.iter().all(|two| one & two & ranks != 0)), "{ranks:#b}");
        assert!(quorums.contains(&ranks));
    }
    let four = View::first(set(0b11110, 5), SETTINGS);
    assert_eq!(
        [0b00110, 0b11000, 0b11100, 0b00011].map(|some| four.is_quorum(&set(some, 5))),
        [true, false, true, false]
    );
}

#[test]
fn tags_tell_views_apart_and_messages_survive_serialisation() {
    let view = View::first(Ranks::all(2), SETTINGS);
    let tags: BTreeSet<_> = (0..1000).map(|epoch| View { epoch, ..view.clone() }.job_tag(77)).collect();
    assert_eq!((tags.len(), view.job_tag(77)), (1000, 77));
    let message = MembershipMessage::Views { views: vec![View { joined: Some((1, u64::MAX)), ..view.clone() }] };
    let message = optireduce_core::protocol::Message::Membership(message);
    assert_eq!(optireduce_core::protocol::Message::decode(1, 2, &message.encode()), Ok(message));
}

#[test]
fn a_rank_whose_channel_has_ended_is_silent_after_three_collectives_however_short() {
    for gone in [true, false] {
        let mut membership =
            Membership::new(0, MembershipParams { silent_ns: u64::MAX, ..params(3) }, SETTINGS).unwrap();
        if gone {
            membership.handle_gone(2);
        }
        for op in 0..4 {
            let silent = |membership: &mut Membership| {
                std::iter::from_fn(|| membership.poll()).any(|output| output == Output::Silent { rank: 2 })
            };
            assert!(membership.view_of(0, op).is_some());
            membership.observe(0, op, &Ranks::none(3).with([1]), &Ranks::none(3).with([2]));
            assert_eq!(silent(&mut membership), gone && op == 2, "collective {op}, gone {gone}");
        }
    }
}

#[test]
fn a_rank_that_waits_says_so_and_is_not_taken_for_dead() {
    for waits in [true, false] {
        let mut membership = Membership::new(0, MembershipParams { silent_ns: 0, ..params(3) }, SETTINGS).unwrap();
        let mut silent = Vec::new();
        for op in 0..9 {
            assert!(membership.view_of(0, op).is_some());
            membership.observe(0, op, &Ranks::none(3).with([1]), &Ranks::none(3).with([2]));
            let message = if waits {
                MembershipMessage::Waits { number: 0 }
            } else {
                MembershipMessage::Progress { number: 0, next_op: op + 1 }
            };
            membership.handle_message(0, 2, message).unwrap();
            let outputs = std::iter::from_fn(|| membership.poll());
            silent.extend(outputs.filter(|output| *output == Output::Silent { rank: 2 }).map(|_| op));
        }
        assert_eq!(silent, if waits { vec![] } else { vec![2] });
    }
    let params = MembershipParams { silent_ns: 1000, ..params(3) };
    let mut membership = Membership::new(2, params, SETTINGS).unwrap();
    let mut now_ns = 0;
    for _ in 0..3 {
        membership.wait_for_others(now_ns, true);
        let timeout_ns = membership.next_timeout().unwrap();
        assert!(timeout_ns - now_ns <= params.silent_ns / 4);
        now_ns = timeout_ns;
        membership.handle_timeout(now_ns);
        let message = MembershipMessage::Waits { number: 0 };
        let expected = [0, 1].map(|to| Output::Send { to, message: message.clone() });
        assert_eq!(std::iter::from_fn(|| membership.poll()).collect::<Vec<_>>(), expected);
    }
    membership.wait_for_others(now_ns, true);
    membership.wait_for_others(now_ns, false);
    assert_eq!(membership.next_timeout(), None, "it waits no more");
}

/// Rank 0 after three collectives without rank 2, which reports that it is behind. Returns the
/// membership and the time.
fn waits_for_rank_2(params: MembershipParams) -> (Membership, u64) {
    let mut membership = Membership::new(0, params, SETTINGS).unwrap();
    let behind = MembershipMessage::Behind { number: 0, next_op: 0 };
    for op in 0..3 {
        let now_ns = u64::from(op) * params.silent_ns / 2;
        assert!(!membership.waits_for_behind(now_ns) && membership.view_of(now_ns, op).is_some());
        membership.handle_message(now_ns, 2, behind.clone()).unwrap();
        membership.observe(now_ns, op, &Ranks::none(3).with([1]), &Ranks::none(3).with([2]));
    }
    let next_op = 3;
    let told = [1, 2].map(|to| Output::Send { to, message: MembershipMessage::Progress { number: 0, next_op } });
    assert_eq!(std::iter::from_fn(|| membership.poll()).collect::<Vec<_>>(), told);
    assert!(membership.waits_for_behind(params.silent_ns));
    (membership, params.silent_ns)
}

#[test]
fn a_rank_that_is_alive_and_behind_is_waited_for_until_it_has_caught_up_or_for_the_patience() {
    let params = MembershipParams { silent_ns: 1000, patience_ns: 5000, ..params(3) };
    let behind = |next_op| MembershipMessage::Behind { number: 0, next_op };
    let is_suspected = |membership: &mut Membership| {
        std::iter::from_fn(|| membership.poll()).any(|output| output == Output::Silent { rank: 2 })
    };

    let (mut membership, now_ns) = waits_for_rank_2(params);
    membership.handle_message(now_ns, 2, behind(2)).unwrap();
    assert!(membership.waits_for_behind(now_ns));
    membership.handle_message(now_ns, 2, behind(3)).unwrap();
    assert!(!membership.waits_for_behind(now_ns) && !is_suspected(&mut membership));

    let (mut membership, now_ns) = waits_for_rank_2(params);
    let stale_ns = membership.next_timeout().unwrap();
    assert_eq!(stale_ns, now_ns + params.silent_ns);
    assert!(membership.waits_for_behind(stale_ns - 1) && !is_suspected(&mut membership));
    membership.handle_timeout(stale_ns);
    assert!(!membership.waits_for_behind(stale_ns) && is_suspected(&mut membership), "no report");

    let (mut membership, mut now_ns) = waits_for_rank_2(params);
    while membership.waits_for_behind(now_ns) {
        assert!(!is_suspected(&mut membership));
        now_ns += 100;
        membership.handle_message(now_ns, 2, behind(1)).unwrap();
    }
    assert_eq!((now_ns, is_suspected(&mut membership)), (params.patience_ns, true), "since the first report");

    let (mut membership, now_ns) = waits_for_rank_2(params);
    membership.observe(now_ns, 3, &Ranks::none(3).with([1, 2]), &Ranks::none(3));
    assert!(!membership.waits_for_behind(now_ns) && !is_suspected(&mut membership), "it was heard");
    let later_ns = now_ns + 2 * params.patience_ns;
    for op in 4..7 {
        let now_ns = later_ns + u64::from(op - 4) * params.silent_ns / 2;
        assert!(membership.view_of(now_ns, op).is_some());
        membership.handle_message(now_ns, 2, behind(4)).unwrap();
        membership.observe(now_ns, op, &Ranks::none(3).with([1]), &Ranks::none(3).with([2]));
    }
    let waits = membership.waits_for_behind(later_ns + params.silent_ns);
    assert!(waits && !is_suspected(&mut membership), "another pause has a patience of its own");

    let (mut membership, now_ns) = waits_for_rank_2(params);
    membership.handle_gone(2);
    assert!(!membership.waits_for_behind(now_ns) && is_suspected(&mut membership), "its process has ended");
}

#[test]
fn a_rank_reports_that_it_is_behind_until_it_has_caught_up() {
    let params = MembershipParams { silent_ns: 1000, patience_ns: 5000, ..params(3) };
    let mut membership = Membership::new(2, params, SETTINGS).unwrap();
    let told = |membership: &mut Membership| std::iter::from_fn(|| membership.poll()).collect::<Vec<_>>();
    let behind = |next_op| {
        [0, 1].map(|to| Output::Send { to, message: MembershipMessage::Behind { number: 0, next_op } }).to_vec()
    };
    membership.set_behind(0, true);
    for report in 2..5 {
        assert_eq!(membership.next_timeout(), Some(report * params.silent_ns / 4));
        membership.handle_timeout(report * params.silent_ns / 4);
        assert_eq!(told(&mut membership), behind(0));
        // Others are ahead by their own report, although no packets are seen.
        membership.handle_message(0, 0, MembershipMessage::Progress { number: 0, next_op: 2 }).unwrap();
        membership.set_behind(report * params.silent_ns / 4, false);
    }
    for op in 0..2 {
        assert!(membership.view_of(1000, op).is_some());
        assert_eq!(told(&mut membership), behind(op + 1), "at once, so that the others go on");
    }
    membership.set_behind(1000, false);
    assert!(membership.view_of(1000, 2).is_some());
    assert_eq!((told(&mut membership), membership.next_timeout()), (vec![], None));
}

#[test]
fn a_rank_that_joins_begins_once_another_is_there() {
    let join = || {
        let mut membership = Membership::outside(2, params(3)).unwrap();
        membership.join(0, 7);
        let view =
            View { number: 1, first_op: 20, joined: Some((2, 7)), epoch: 1, ..View::first(Ranks::all(3), SETTINGS) };
        membership.handle_message(0, 0, MembershipMessage::Views { views: vec![view] }).unwrap();
        membership
    };
    let mut membership = join();
    let mut says = |next_op| {
        membership.handle_message(0, 1, MembershipMessage::Progress { number: 1, next_op }).unwrap();
        membership.view_of(0, 20).is_some()
    };
    assert_eq!([20, 21, 20].map(&mut says), [false, true, true]);
    let mut membership = join();
    membership.handle_gone(0);
    assert!(membership.view_of(0, 20).is_none());
    membership.handle_gone(1);
    assert!(membership.view_of(0, 20).is_some());
    // Ranks that started before the joining rank had its view answer its question.
    let mut membership = join();
    assert!(membership.view_of(0, 20).is_none());
    std::iter::from_fn(|| membership.poll()).for_each(drop);
    membership.handle_timeout(membership.next_timeout().unwrap());
    let asked = std::iter::from_fn(|| membership.poll()).find_map(|output| match output {
        Output::Send { to: 1, message } => Some(message),
        _ => None,
    });
    let mut other = Membership::new(1, params(3), SETTINGS).unwrap();
    let views = vec![membership.newest().unwrap().clone()];
    other.handle_message(0, 0, MembershipMessage::Views { views }).unwrap();
    assert!((0..=20).all(|op| other.view_of(0, op).is_some()));
    std::iter::from_fn(|| other.poll()).for_each(drop);
    other.handle_message(0, 2, asked.unwrap()).unwrap();
    let answer = MembershipMessage::Progress { number: 1, next_op: 21 };
    assert!(
        std::iter::from_fn(|| other.poll()).any(|output| output == Output::Send { to: 2, message: answer.clone() })
    );
}

/// State of the channel to rank 2 before its view arrives.
enum Channel {
    Unharmed,
    New,
    NewHasEnded,
}

/// Returns rank 0 of 3, where rank 2 joins from collective 5 on. The closure runs a collective
/// without data of rank 2 and returns whether rank 0 reports it as silent.
fn one_joins(silent_ns: u64, channel: Channel) -> (Membership, impl Fn(&mut Membership, u32) -> bool) {
    let mut membership = Membership::new(0, MembershipParams { silent_ns, ..params(3) }, SETTINGS).unwrap();
    if !matches!(channel, Channel::Unharmed) {
        membership.handle_gone(2);
        membership.handle_back(2);
    }
    if matches!(channel, Channel::NewHasEnded) {
        membership.handle_gone(2);
    }
    let view = View { number: 1, first_op: 5, joined: Some((2, 7)), epoch: 1, ..View::first(Ranks::all(3), SETTINGS) };
    membership.handle_message(0, 1, MembershipMessage::Views { views: vec![view] }).unwrap();
    let is_silent = |membership: &mut Membership, op: u32| {
        assert!(membership.view_of(0, op).is_some());
        membership.observe(0, op, &Ranks::none(3).with([1]), &Ranks::none(3).with([2]));
        std::iter::from_fn(|| membership.poll()).any(|output| output == Output::Silent { rank: 2 })
    };
    (membership, is_silent)
}

#[test]
fn the_channel_of_a_rank_that_joins_is_a_new_one() {
    let (mut membership, is_silent) = one_joins(u64::MAX, Channel::New);
    assert!(!(5..20).any(|op| is_silent(&mut membership, op)), "its old channel has ended, not this one");
    membership.handle_gone(2);
    assert!(is_silent(&mut membership, 20));
}

#[test]
fn the_channel_of_a_rank_that_joins_may_have_ended_before_its_view_is_known() {
    let (mut membership, is_silent) = one_joins(u64::MAX, Channel::NewHasEnded);
    assert!((5..20).any(|op| is_silent(&mut membership, op)), "nobody would drop it otherwise");
}

#[test]
fn before_its_first_collective_a_rank_that_joins_is_not_silent() {
    for channel in [Channel::Unharmed, Channel::New] {
        let (mut membership, is_silent) = one_joins(0, channel);
        let silent: Vec<u32> = (0..9).filter(|op| is_silent(&mut membership, *op)).collect();
        assert_eq!(silent, [7], "the third of those in which it takes part");
    }
}

#[test]
fn a_rank_that_asks_still_is_told_of_the_view_in_which_it_joins() {
    let (mut membership, _) = one_joins(0, Channel::Unharmed);
    let mut answer_to = |from: usize, incarnation: u64| {
        std::iter::from_fn(|| membership.poll()).for_each(drop);
        membership.handle_message(0, from, MembershipMessage::Join { incarnation }).unwrap();
        let newest = membership.newest().unwrap().number;
        std::iter::from_fn(|| membership.poll()).find_map(|output| match output {
            Output::Send { to, message: MembershipMessage::Views { views } } if to == from => {
                Some((views.last().unwrap().number, newest))
            }
            _ => None,
        })
    };
    assert_eq!(answer_to(2, 6), None, "an earlier wish");
    assert_eq!(answer_to(2, 7), Some((1, 1)));
    let without = View { number: 2, ranks: set(0b011, 3), first_op: 9, ..View::first(Ranks::all(3), SETTINGS) };
    let dropped = MembershipMessage::Views { views: vec![without] };
    membership.handle_message(0, 1, dropped).unwrap();
    let late = MembershipMessage::Join { incarnation: 7 };
    std::iter::from_fn(|| membership.poll()).for_each(drop);
    membership.handle_message(0, 2, late).unwrap();
    assert_eq!(membership.poll(), None, "it was dropped since: that wish is history");
}
