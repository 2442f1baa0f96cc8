//! Tracing spans of collectives.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use optireduce_core::protocol::{JobParams, Kind};
use optireduce_core::{Call, DataPlane};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::virtual_network::{Impairments, Network};

/// Fields of a span, with its name and its parent's fields.
type Fields = BTreeMap<String, String>;

#[derive(Clone, Default)]
struct Seen {
    open: Arc<Mutex<HashMap<u64, Fields>>>,
    closed: Arc<Mutex<Vec<Fields>>>,
}

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Seen {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        assert_eq!(*attributes.metadata().level(), Level::DEBUG);
        let mut open = self.open.lock().unwrap();
        let mut fields = attributes.parent().map_or_else(Fields::new, |parent| open[&parent.into_u64()].clone());
        fields.insert("span".into(), attributes.metadata().name().into());
        attributes.record(&mut Into(&mut fields));
        open.insert(id.into_u64(), fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut Into(self.open.lock().unwrap().get_mut(&id.into_u64()).unwrap()));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let fields = self.open.lock().unwrap().remove(&id.into_u64()).unwrap();
        self.closed.lock().unwrap().push(fields);
    }
}

#[test]
fn every_collective_and_every_stage_is_a_span_that_says_how_it_went() {
    const RANKS: usize = 3;
    let seen = Seen::default();
    let subscriber = tracing_subscriber::registry().with(seen.clone());
    tracing::subscriber::with_default(subscriber, || {
        let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
        let mut network = Network::new(RANKS, 4, impairments, 1, |rank, plane| JobParams {
            window_beats_max: 40,
            ..JobParams::new(rank, RANKS, 4, 1_000_000, &plane.limits())
        });
        // Another test may have cached, just before, that no subscriber is interested.
        tracing::callsite::rebuild_interest_cache();
        for (op, kind) in [Kind::AllReduce, Kind::ReduceScatter].into_iter().enumerate() {
            let call = Call::declared(kind, 8, 3000, 0);
            let starts = [0, 0, op as u64 * 5_000_000].map(Some);
            network.collective(call, &vec![vec![1.0; 3000]; RANKS], &starts);
        }
    });
    assert!(seen.open.lock().unwrap().is_empty(), "spans that do not end");
    let closed = seen.closed.lock().unwrap();
    let find = |span: &str, rank: usize, op: usize, stage: Option<&str>| {
        let is_it = |one: &&Fields| {
            one["span"] == span
                && (&one["rank"], &one["op"]) == (&rank.to_string(), &op.to_string())
                && one.get("stage").map(String::as_str) == stage
        };
        let found: Vec<&Fields> = closed.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{span} {rank} {op} {stage:?}: {found:?}");
        found[0]
    };
    for rank in 0..RANKS {
        for (op, kind) in ["all-reduce", "reduce-scatter"].into_iter().enumerate() {
            let collective = find("collective", rank, op, None);
            assert_eq!((&collective["kind"], &collective["bucket"]), (&kind.to_owned(), &"8".to_owned()));
            for stage in ["contribute", "broadcast"] {
                let fields = find("stage", rank, op, Some(stage));
                let (closed_by, received) = (fields["closed_by"].as_str(), fields["received_fraction"].as_str());
                // The others reach their bound with half of the expected data.
                let expected = if op == 1 && stage == "contribute" && rank < 2 {
                    ("deadline", "0.5")
                } else {
                    ("complete", "1.0")
                };
                assert_eq!((closed_by, received), expected, "rank {rank}, {kind}, {stage}");
            }
        }
    }
    assert_eq!(closed.len(), RANKS * 2 * 3);
}
