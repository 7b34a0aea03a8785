//! The store in memory.

use contextree_store::Memory;

contextree_store::conformance!(Box::new(Memory::new()));
