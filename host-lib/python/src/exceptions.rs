//! Exceptions of `optireduce.errors`.

use pyo3::import_exception;

import_exception!(optireduce.errors, OptiReduceError);
import_exception!(optireduce.errors, ArgumentError);
import_exception!(optireduce.errors, MismatchError);
import_exception!(optireduce.errors, PeerError);
import_exception!(optireduce.errors, TimeoutError);
import_exception!(optireduce.errors, DroppedError);
import_exception!(optireduce.errors, ClosedError);
import_exception!(optireduce.errors, ForkedError);
import_exception!(optireduce.errors, HaltError);
import_exception!(optireduce.errors, UnsettledError);
import_exception!(optireduce.errors, UnsupportedError);
import_exception!(optireduce.errors, OutOfMemoryError);
