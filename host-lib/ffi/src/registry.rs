//! Handles: numbers in a table.
//!
//! The use of a handle that was destroyed, or is of another type, must be an error instead of a
//! crash. So a handle is not an address, but a number that is never reused. It is odd, unlike the
//! address of any C object.

use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::status::Failure;
use crate::types::optr_status_t::OPTR_INVALID_HANDLE;

pub trait Kind: Any + Send + Sync {
    /// Pointer that C sees; it must not be dereferenced.
    type Handle: Handle;
    /// Name with an article, for errors.
    const NAME: &str;
    /// Functions that create it, for errors.
    const MADE_BY: &str;
    /// Lowest bits of its handles; odd.
    const TAG: usize;

    /// Address of the object with which it is destroyed, which it keeps alive; 0: none.
    fn owner(&self) -> usize;
}

pub trait Handle: Copy {
    fn new(number: usize) -> Self;
    fn number(self) -> usize;
}

impl<T> Handle for *mut T {
    fn new(number: usize) -> Self {
        without_provenance_mut(number)
    }

    fn number(self) -> usize {
        self.addr()
    }
}

const TAG_BITS: u32 = 3;

struct Object {
    kind: &'static str,
    owner: usize,
    value: Arc<dyn Any + Send + Sync>,
}

struct Table {
    given: usize,
    objects: BTreeMap<usize, Object>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { given: 0, objects: BTreeMap::new() });

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn insert<T: Kind>(value: T) -> T::Handle {
    let object = Object { kind: T::NAME, owner: value.owner(), value: Arc::new(value) };
    let mut table = table();
    table.given += 1;
    let handle = table.given << TAG_BITS | T::TAG;
    table.objects.insert(handle, object);
    T::Handle::new(handle)
}

/// `name`: argument, for the error.
pub fn find<T: Kind>(name: &str, handle: T::Handle) -> Result<Arc<T>, Failure> {
    table().find(name, handle)
}

pub fn remove<T: Kind>(name: &str, handle: T::Handle) -> Result<Arc<T>, Failure> {
    let mut table = table();
    let found = table.find(name, handle)?;
    table.objects.remove(&handle.number());
    Ok(found)
}

/// Removes an object with all that it owns.
pub fn remove_owner<T: Kind>(name: &str, handle: T::Handle) -> Result<Arc<T>, Failure> {
    let mut table = table();
    let found: Arc<T> = table.find(name, handle)?;
    table.objects.remove(&handle.number());
    let owner = Arc::as_ptr(&found).addr();
    // Their destructors may block, so they run after the lock is released.
    let _owned: Vec<_> = table.objects.extract_if(.., |_, object| object.owner == owner).collect();
    drop(table);
    Ok(found)
}

impl Table {
    fn find<T: Kind>(&self, name: &str, handle: T::Handle) -> Result<Arc<T>, Failure> {
        let handle = handle.number();
        let (kind, made_by) = (T::NAME, T::MADE_BY);
        let failure = |found: String| {
            let text = format!("{name} is {found}, expected {kind} from {made_by}; nothing was changed");
            Failure::new(OPTR_INVALID_HANDLE, text)
        };
        let (number, tag) = (handle >> TAG_BITS, handle & ((1 << TAG_BITS) - 1));
        match self.objects.get(&handle) {
            Some(object) => object.value.clone().downcast().map_err(|_| failure(object.kind.to_owned())),
            None if handle == 0 => Err(failure("NULL".into())),
            None if tag == T::TAG && (1..=self.given).contains(&number) => {
                Err(failure(format!("{kind} that was destroyed or finished before, or whose communicator was")))
            }
            None => Err(failure(format!("{handle:#x}, which is not a handle of this library"))),
        }
    }
}
