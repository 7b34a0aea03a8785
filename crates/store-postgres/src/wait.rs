//! Blocking on a future from any thread.
//!
//! The runtime's own `block_on` refuses to work on a thread that another runtime drives. This one works on every thread:
//! the future is polled here, while timers and sockets belong to the runtime of the store.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::Handle;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns what the future returns. The calling thread sleeps meanwhile.
pub(crate) fn wait<T>(runtime: &Handle, future: impl Future<Output = T>) -> T {
    let _inside = runtime.enter();
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        thread::park();
    }
}
