//! tmp
use contextree_bench::{rows::Scale, provider_rows, table};
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn main(){ let q=std::env::args().any(|a|a=="--quick"); provider_rows::all(if q {Scale::QUICK} else {Scale::FULL}, |r| println!("{} {:?}", table::line(&r), r.nanoseconds)); }
