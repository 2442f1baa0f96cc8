//! Handles: numbers in a table.
//!
//! The use of a handle that was destroyed, or is of another type, must be an error instead of a
//! crash. So a handle is not an address, but a number that is never reused. It is odd, unlike the
//! address of any C object.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bucket::Bucket;
use crate::comm::Comm;
use crate::partial::Partial;
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_INVALID_HANDLE;

#[derive(Clone, Debug)]
pub enum Object {
    Comm(Arc<Comm>),
    Bucket(Arc<Bucket>),
    Request(Arc<Request>),
    Partial(Arc<Partial>),
}

pub trait Kind: Sized {
    /// Name with an article, for errors.
    const NAME: &str;
    /// Functions that create it, for errors.
    const MADE_BY: &str;
    /// Lowest bits of its handles; odd.
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
    const MADE_BY: &str = "optr_bucket_start_all_reduce or a similar function";
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

    fn belongs_to(&self, comm: &Arc<Comm>) -> bool {
        match self {
            Self::Comm(_) => false,
            Self::Bucket(bucket) => Arc::ptr_eq(bucket.comm(), comm),
            Self::Request(request) => Arc::ptr_eq(request.comm(), comm),
            Self::Partial(partial) => Arc::ptr_eq(partial.comm(), comm),
        }
    }
}

const TAG_BITS: u32 = 3;

#[derive(Debug)]
struct Table {
    given: usize,
    objects: BTreeMap<usize, Object>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { given: 0, objects: BTreeMap::new() });

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn insert<T: Kind>(object: Arc<T>) -> usize {
    let mut table = table();
    table.given += 1;
    let handle = table.given << TAG_BITS | T::TAG;
    table.objects.insert(handle, T::object(object));
    handle
}

/// `name`: argument, for the error.
pub fn find<T: Kind>(name: &str, handle: usize) -> Result<Arc<T>, Failure> {
    table().find(name, handle)
}

pub fn remove<T: Kind>(name: &str, handle: usize) -> Result<Arc<T>, Failure> {
    let mut table = table();
    let found = table.find(name, handle)?;
    table.objects.remove(&handle);
    Ok(found)
}

/// Removes a communicator with its buckets, partial reduces and requests.
pub fn remove_comm(name: &str, handle: usize) -> Result<Arc<Comm>, Failure> {
    let mut table = table();
    let found: Arc<Comm> = table.find(name, handle)?;
    table.objects.remove(&handle);
    // Their destructors may block, so they run after the lock is released.
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
            None => Err(failure(format!("{handle:#x}, which is not a handle of this library"))),
        }
    }
}
