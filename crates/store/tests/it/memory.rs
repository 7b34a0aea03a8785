//! The store in memory.

use contextree_store::Memory;

contextree_testkit::conformance!(Box::new(Memory::new()));
