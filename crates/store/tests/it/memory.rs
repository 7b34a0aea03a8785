//! The store in memory.

use contextree_store::Memory;

contextree_store::conformance!(Memory::new());
