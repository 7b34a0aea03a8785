//! Faults below the store.
