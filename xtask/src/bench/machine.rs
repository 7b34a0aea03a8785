//! Describes the machine. Without names and paths, which do not affect speed.

use std::fs;
use std::process::Command;
use std::thread;

use contextree_json::{Object, Value};

/// Returns the facts: processor, cores, memory, kernel, compiler, and the load before the run.
pub(crate) fn facts() -> Value {
    let mut facts = Object::new();
    let mut fact = |name: &str, value: String| facts.insert(name, Value::from(value.as_str()));
    fact("processor", field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()));
    fact("cores", thread::available_parallelism().map_or(0, usize::from).to_string());
    let memory = field("/proc/meminfo", "MemTotal").and_then(|text| {
        let kilobytes: u64 = text.split(' ').next()?.parse().ok()?;
        Some(format!("{} GiB", (kilobytes + (1 << 19)) >> 20))
    });
    fact("memory", memory.unwrap_or_else(|| "unknown".to_owned()));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    fact("kernel", kernel.trim().to_owned());
    fact("rustc", version("rustc"));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    fact("load before", load.split(' ').take(1).collect());
    Value::Object(facts)
}

/// Returns the version that a program prints.
pub(crate) fn version(program: &str) -> String {
    let said = Command::new(program).arg("--version").output();
    said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()).unwrap_or_default()
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
