//! tmp
use contextree_provider::*;
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn main(){
  let a: Vec<String> = std::env::args().collect();
  let f: Format = a[2].parse().unwrap();
  let log = contextree_bench::provider_rows::log(f, 50_000_000);
  let lines: Vec<&[u8]> = log.split(|b| *b==b'\n').filter(|l| !l.is_empty()).collect();
  for _ in 0..3 { match &*a[1] {
   "none" => {}
   "serde" => { let v: Vec<serde_json::Value> = lines.iter().map(|l| serde_json::from_slice(l).unwrap()).collect(); drop(v); }
   "sdrop" => { for l in &lines { std::hint::black_box(serde_json::from_slice::<serde_json::Value>(l).unwrap()); } }
   "ctx" => { let mut s=contextree_json::Scratch::default(); let v: Vec<_> = lines.iter().map(|l| s.parse(l, &contextree_json::Limits::default()).unwrap()).collect(); drop(v); }
   _ => { let mut i=Importer::new(f, ImportOptions::default()); for l in &lines { i.line(l).unwrap(); } drop(i.finish().unwrap()); }
  }}
}
