//! temporary
use contextree::json::{Value, parse};
use contextree::*;
fn bad(v: &Value) -> bool {
    let Ok(c) =
        Context::import_snapshot(&v.to_canonical(), Profile::Lenient, ContextOptions::default())
    else {
        return false;
    };
    let h = c.head().unwrap();
    let e = h.export();
    let Ok(d) = Context::import_snapshot(&e, Profile::Lenient, ContextOptions::default()) else {
        return true;
    };
    d.head().unwrap().export() == e && d.head().unwrap().digest() != h.digest()
}
fn variants(v: &Value) -> Vec<Value> {
    let mut out = vec![];
    match v {
        Value::Object(o) => {
            for k in o.keys() {
                let mut n = o.clone();
                n.remove(k);
                out.push(Value::Object(n));
                for x in variants(o.get(k).unwrap()) {
                    let mut n = o.clone();
                    n.insert(k, x);
                    out.push(Value::Object(n));
                }
            }
        }
        Value::Array(a) => {
            for i in 0..a.len() {
                let mut n = a.clone();
                n.remove(i);
                out.push(Value::Array(n));
                for x in variants(&a[i]) {
                    let mut n = a.clone();
                    n[i] = x;
                    out.push(Value::Array(n));
                }
            }
        }
        _ => {}
    }
    out
}
fn main() {
    let mut t = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut t).unwrap();
    let mut v = parse(t.as_bytes()).unwrap();
    println!("{}", bad(&v));
    'o: loop {
        for x in variants(&v) {
            if bad(&x) {
                v = x;
                continue 'o;
            }
        }
        break;
    }
    println!("{}", String::from_utf8(v.to_canonical()).unwrap());
}
