//! A mutex that DynamoRIO knows: a thread that waits for it can be stopped.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};

use dynamorio_sys::{dr_mutex_create, dr_mutex_lock, dr_mutex_unlock};

/// A value under a mutex.
pub struct Lock<T> {
    mutex: *mut c_void,
    value: UnsafeCell<T>,
}

// SAFETY: the value is accessed only under the mutex.
unsafe impl<T: Send> Sync for Lock<T> {}
// SAFETY: the mutex belongs to no thread.
unsafe impl<T: Send> Send for Lock<T> {}

impl<T> Lock<T> {
    /// Of this value.
    pub fn new(value: T) -> Self {
        Lock {
            // SAFETY: DynamoRIO is initialised when the client starts.
            mutex: unsafe { dr_mutex_create() },
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> Guard<'_, T> {
        // SAFETY: the mutex was created above and is never destroyed.
        unsafe { dr_mutex_lock(self.mutex) };
        Guard { lock: self }
    }
}

/// The value, while the mutex is held.
pub struct Guard<'l, T> {
    lock: &'l Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mutex is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the mutex is held.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this guard holds it.
        unsafe { dr_mutex_unlock(self.lock.mutex) };
    }
}
