//! Handles: numbers in a table.
//!
//! Why: a handle that was destroyed, or is of another kind, is an error and not a crash. So a handle is never the address of
//! anything: it is a number that is used once, odd and far below any address, and a table knows what it stands for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bucket::Bucket;
use crate::comm::Comm;
use crate::partial::Partial;
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_INVALID_HANDLE;

/// What a handle stands for.
#[derive(Clone, Debug)]
pub enum Object {
    Comm(Arc<Comm>),
    Bucket(Arc<Bucket>),
    Request(Arc<Request>),
    Partial(Arc<Partial>),
}

/// A kind of object.
pub trait Kind: Sized {
    /// With its article, for messages.
    const NAME: &str;
    /// What makes one.
    const MADE_BY: &str;
    /// In the lowest bits of a handle: odd, so that no address of a C object is one.
    const TAG: usize;

    fn object(this: Arc<Self>) -> Object;
    fn of(object: &Object) -> Option<&Arc<Self>>;
}

impl Kind for Comm {
    const NAME: &str = "a communicator";
    const MADE_BY: &str = "optr_comm_init_rank or optr_comm_init_env";
    const TAG: usize = 1;

    fn object(this: Arc<Self>) -> Object {
        Object::Comm(this)
    }

    fn of(object: &Object) -> Option<&Arc<Self>> {
        if let Object::Comm(comm) = object { Some(comm) } else { None }
    }
}

impl Kind for Bucket {
    const NAME: &str = "a bucket";
    const MADE_BY: &str = "optr_bucket_create";
    const TAG: usize = 3;

    fn object(this: Arc<Self>) -> Object {
        Object::Bucket(this)
    }

    fn of(object: &Object) -> Option<&Arc<Self>> {
        if let Object::Bucket(bucket) = object { Some(bucket) } else { None }
    }
}

impl Kind for Request {
    const NAME: &str = "a request";
    const MADE_BY: &str = "optr_bucket_start_all_reduce and its like";
    const TAG: usize = 5;

    fn object(this: Arc<Self>) -> Object {
        Object::Request(this)
    }

    fn of(object: &Object) -> Option<&Arc<Self>> {
        if let Object::Request(request) = object { Some(request) } else { None }
    }
}

impl Kind for Partial {
    const NAME: &str = "a partial reduce";
    const MADE_BY: &str = "optr_partial_create";
    const TAG: usize = 7;

    fn object(this: Arc<Self>) -> Object {
        Object::Partial(this)
    }

    fn of(object: &Object) -> Option<&Arc<Self>> {
        if let Object::Partial(partial) = object { Some(partial) } else { None }
    }
}

impl Object {
    fn name(&self) -> &'static str {
        match self {
            Self::Comm(_) => Comm::NAME,
            Self::Bucket(_) => Bucket::NAME,
            Self::Request(_) => Request::NAME,
            Self::Partial(_) => Partial::NAME,
        }
    }

    /// Whether it is a bucket, a partial reduce or a request of this communicator.
    fn belongs_to(&self, comm: &Arc<Comm>) -> bool {
        match self {
            Self::Comm(_) => false,
            Self::Bucket(bucket) => Arc::ptr_eq(bucket.comm(), comm),
            Self::Request(request) => Arc::ptr_eq(request.comm(), comm),
            Self::Partial(partial) => Arc::ptr_eq(partial.comm(), comm),
        }
    }
}

/// Bits of a handle that say its kind.
const TAG_BITS: u32 = 3;

#[derive(Debug)]
struct Table {
    /// Handles given out so far.
    given: usize,
    objects: BTreeMap<usize, Object>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { given: 0, objects: BTreeMap::new() });

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives a new object its handle.
pub fn insert<T: Kind>(object: Arc<T>) -> usize {
    let mut table = table();
    table.given += 1;
    let handle = table.given << TAG_BITS | T::TAG;
    table.objects.insert(handle, T::object(object));
    handle
}

/// What a handle stands for. `name`: of the argument, for the message.
pub fn find<T: Kind>(name: &str, handle: usize) -> Result<Arc<T>, Failure> {
    table().find(name, handle)
}

/// Takes an object out: its handle is worth nothing from now on.
pub fn remove<T: Kind>(name: &str, handle: usize) -> Result<Arc<T>, Failure> {
    let mut table = table();
    let found = table.find(name, handle)?;
    table.objects.remove(&handle);
    Ok(found)
}

/// Takes out a communicator, and its buckets, partial reduces and requests.
pub fn remove_comm(name: &str, handle: usize) -> Result<Arc<Comm>, Failure> {
    let mut table = table();
    let found: Arc<Comm> = table.find(name, handle)?;
    table.objects.remove(&handle);
    // Dropped without the lock: that may take a moment.
    let _of_it: Vec<_> = table.objects.extract_if(.., |_, object| object.belongs_to(&found)).collect();
    drop(table);
    Ok(found)
}

impl Table {
    fn find<T: Kind>(&self, name: &str, handle: usize) -> Result<Arc<T>, Failure> {
        let (kind, made_by) = (T::NAME, T::MADE_BY);
        let failure = |found: String| {
            let text = format!("{name} is {found}, expected {kind} from {made_by}; nothing was changed");
            Failure::new(OPTR_INVALID_HANDLE, text)
        };
        let (number, tag) = (handle >> TAG_BITS, handle & ((1 << TAG_BITS) - 1));
        match self.objects.get(&handle) {
            Some(object) => T::of(object).cloned().ok_or_else(|| failure(object.name().to_owned())),
            None if handle == 0 => Err(failure("NULL".into())),
            None if tag == T::TAG && (1..=self.given).contains(&number) => {
                Err(failure(format!("{kind} that was destroyed or finished before, or whose communicator was")))
            }
            None => Err(failure(format!("{handle:#x}, which is no handle of this library"))),
        }
    }
}
