//! Common interface of the operations that `optireduce` starts.

use std::time::Duration;

use optireduce::{Error, Message, Pending, Report, Request, Transfer, Values};

/// Operation in progress.
pub trait Handle: Future<Output = Result<Self::Done, Error>> + Send + Unpin + Sized + 'static {
    type Done: Send;
    /// True if the result includes a report.
    const HAS_REPORT: bool;

    fn wait_timeout(&mut self, timeout: Duration) -> bool;
    fn wait(self) -> Result<Self::Done, Error>;
}

impl<V: From<Values> + Send + 'static> Handle for Request<V> {
    type Done = (V, Report);
    const HAS_REPORT: bool = true;

    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        Self::wait_timeout(self, timeout)
    }

    fn wait(self) -> Result<Self::Done, Error> {
        Self::wait(self)
    }
}

impl<T: Send + Unpin + 'static> Handle for Pending<T> {
    type Done = T;
    const HAS_REPORT: bool = false;

    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        Self::wait_timeout(self, timeout)
    }

    fn wait(self) -> Result<Self::Done, Error> {
        Self::wait(self)
    }
}

impl Handle for Transfer {
    type Done = Message;
    const HAS_REPORT: bool = false;

    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        Self::wait_timeout(self, timeout)
    }

    fn wait(self) -> Result<Self::Done, Error> {
        Self::wait(self)
    }
}
