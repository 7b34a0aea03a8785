//! Random trees and random selectors, the same for the same seed.

use contextree_json::{Object, Value};
use contextree_selector::Edition;
use contextree_tree::{
    Body, Builder, Content, Cycle, Header, HeaderSet, NodeData, Region, RowNumber, Scalar, Tree,
};

use crate::support::Random;

const ROLES: [&str; 4] = ["user", "assistant", "tool", "system"];
const KINDS: [&str; 3] = ["text", "summary", "result"];
const KEYS: [&str; 3] = ["K", "L", "hero"];
const TAGS: [&str; 3] = ["featured", "summary", "x"];

/// Returns a tree with few distinct values, so that conditions hold often: ties, elided cores,
/// blocks in unusual places.
pub(crate) fn tree(random: &mut Random, cycle: Cycle) -> Tree {
    let mut ids = Ids { next: 0 };
    let root = NodeData::new("root", "^root");
    let regions = ["^sys", "^seq", "^ah"].map(|word| NodeData::new(&word[1..], word));
    let mut builder = Builder::new(root, regions).unwrap();
    let is_odd = random.one_in(4);
    for region in Region::ALL {
        let parent = builder.region(region);
        let count = random.index(6);
        for _ in 0..count {
            let mut node = match region {
                Region::Seq if !(is_odd && random.one_in(4)) => {
                    let word = random.word(&["mt", "seg", "mt"]);
                    ids.node(random, word)
                }
                Region::Head | Region::Sys if is_odd && random.one_in(6) => ids.node(random, "mt"),
                _ => leaf(&mut ids, random),
            };
            if region == Region::Seq && !random.one_in(8) {
                node.offset = Scalar::ZERO;
            }
            let handle = builder.push(parent, node).unwrap();
            if region == Region::Seq || random.one_in(3) {
                fill(&mut builder, handle, &mut ids, random, 0);
            }
        }
    }
    builder.finish(cycle.next())
}

fn fill(
    builder: &mut Builder,
    parent: RowNumber,
    ids: &mut Ids,
    random: &mut Random,
    depth: usize,
) {
    for _ in 0..random.index(4) {
        let handle = builder.push(parent, leaf(ids, random)).unwrap();
        if depth < 2 && random.one_in(2) {
            fill(builder, handle, ids, random, depth + 1);
        }
    }
}

/// Returns a container or a block.
pub(crate) fn leaf(ids: &mut Ids, random: &mut Random) -> NodeData {
    let words =
        ["mc", "cont", "mc:group", "cb", "block", "cb", "block", "cb:summary", "custom:note"];
    let word = words[random.index(words.len())];
    ids.node(random, word)
}

#[derive(Debug)]
pub(crate) struct Ids {
    pub(crate) next: usize,
}

impl Ids {
    pub(crate) fn node(&mut self, random: &mut Random, word: &str) -> NodeData {
        self.next += 1;
        // The order of ids differs from the order of creation.
        let mut node =
            NodeData::new(&format!("{}{}", random.word(&["a", "b", "z"]), self.next), word);
        node.offset = match random.index(8) {
            0 => Scalar::Int(-1),
            1 => Scalar::Int(1),
            2 => Scalar::Float(0.5),
            _ => Scalar::ZERO,
        };
        node.created_at_ns = random.index(3) as i64;
        node.creation_index = random.index(2) as u32;
        node.cycle = Cycle(random.index(3) as u32);
        node.priority = Scalar::Int(random.index(3) as i64 - 1);
        node.expires = random.one_in(3).then(|| Cycle(4 + random.index(3) as u32));
        node.role = (!random.one_in(4)).then(|| random.word(&ROLES).into());
        node.kind = (!random.one_in(4)).then(|| random.word(&KINDS).into());
        if random.one_in(8) {
            node.missing = HeaderSet::from_iter([Header::Cycle, Header::CreatedAtIso]);
        }
        let mut attributes = Object::new();
        if random.one_in(3) {
            attributes.insert("key", random.word(&KEYS).into());
        }
        if random.one_in(4) {
            let tags = (0..random.index(3)).map(|_| Value::from(random.word(&TAGS))).collect();
            attributes.insert("tags", Value::Array(tags));
        }
        if random.one_in(3) {
            let value = match random.index(6) {
                0 => Value::from(9_i64),
                1 => Value::from("9"),
                2 => Value::try_from(1.5).unwrap(),
                3 => Value::Bool(true),
                4 => Value::Null,
                _ => Value::from("x"),
            };
            attributes.insert("data_v", value);
        }
        if random.one_in(10) {
            attributes.insert("sticky", Value::Bool(random.one_in(2)));
        }
        let content = if random.one_in(2) { Content::from("Sum 1") } else { Content::Absent };
        node.body = Body::new(content, attributes);
        node
    }
}

/// Returns a text that is usually a valid selector of the edition; always with a snapshot, so that
/// facets are valid.
pub(crate) fn selector(random: &mut Random, edition: Edition) -> String {
    let mut text = String::from("@t0 ");
    let is_new = edition == Edition::V0_3;
    let body = match random.index(12) {
        0 | 1 if edition >= Edition::V0_2 => path(random, edition),
        2 | 3 if is_new => {
            let search = match random.index(5) {
                0 => "?".to_owned(),
                1 => String::new(),
                2 => {
                    let hops = hops(random, edition);
                    format!("within({hops}) ??")
                }
                _ => "??".to_owned(),
            };
            format!("{search} {}", block(random, edition))
        }
        4 if is_new => format!("+{}", random.word(&TAGS)),
        _ => {
            let count = if random.one_in(4) { 2 } else { 1 };
            let chains: Vec<String> = (0..count).map(|_| chain(random, edition)).collect();
            chains.join(", ")
        }
    };
    text.push_str(&body);
    if is_new && random.one_in(6) {
        text.push_str(&format!(" {}", block(random, edition)));
    }
    if is_new && random.one_in(8) {
        text.push_str(&format!(" +{}", random.word(&TAGS)));
        if random.one_in(2) {
            text.push_str(random.word(&[" [ephemeral]", " [sticky]", " [ttl>0, role=user]"]));
        }
    }
    if is_new && random.one_in(3) {
        for (control, rarity) in [("@order=", 2), (" @unique", 4), (" @limit=", 3), (" @first", 6)]
        {
            if !random.one_in(rarity) {
                continue;
            }
            let value = match control {
                "@order=" => {
                    let orders = ["pre", "post", "bfs", "path", "turn:asc,pre", "turn:desc,pre"];
                    format!(" @order={}", orders[random.index(orders.len())])
                }
                " @limit=" => {
                    let page = if random.one_in(2) {
                        format!(" @p={}", 1 + random.index(2))
                    } else {
                        String::new()
                    };
                    format!(" @limit={}{page}", random.index(4))
                }
                other => other.to_owned(),
            };
            text.push_str(&value);
        }
    }
    text
}

fn chain(random: &mut Random, edition: Edition) -> String {
    let mut text = compound(random, edition);
    for _ in 0..random.index(4) {
        text.push_str(if random.one_in(3) { " > " } else { " " });
        text.push_str(&compound(random, edition));
    }
    text
}

fn compound(random: &mut Random, edition: Edition) -> String {
    let mut text = String::new();
    match random.index(14) {
        0 | 1 => return random.word(&["^sys", "^seq", "^ah", "^root"]).to_owned(),
        2 => return random.word(&[":pre", ":core", ":post"]).to_owned(),
        3 if edition >= Edition::V0_2 => {
            let set = depths(random, edition);
            text.push_str(&format!("depth({set})"));
        }
        4 => text.push('*'),
        5 => text.push_str(&attribute(random, edition)),
        6 => text.push_str(&pseudo(random, edition)),
        7 => {
            let name = if random.one_in(2) { random.word(&["K", "L"]) } else { "a1" };
            text.push_str(&format!("#{name}"));
        }
        _ => {
            let words = [
                ".mt",
                ".mc",
                ".cb",
                ".seg",
                ".cont",
                ".block",
                ".cb",
                ".mt",
                ".mc",
                ".cb:summary",
                ".custom:note",
                ".mc:group",
            ];
            text.push_str(words[random.index(words.len())]);
        }
    }
    for _ in 0..random.index(3) {
        let part =
            if random.one_in(2) { attribute(random, edition) } else { pseudo(random, edition) };
        text.push_str(&part);
    }
    text
}

fn pseudo(random: &mut Random, edition: Edition) -> String {
    match random.index(12) {
        0 => ":pre".to_owned(),
        1 => ":core".to_owned(),
        2 => ":post".to_owned(),
        3 => ":first".to_owned(),
        4 => ":last".to_owned(),
        5 => format!(":nth({})", 1 + random.index(3)),
        _ => format!(":depth({})", depths(random, edition)),
    }
}

fn depths(random: &mut Random, edition: Edition) -> String {
    let number = |random: &mut Random| random.index(6) as i64 - 1;
    if edition >= Edition::V0_2 {
        match random.index(6) {
            0 => return format!("<{}", number(random)),
            1 => return format!(">{}", number(random)),
            2 => return format!(">={}", number(random)),
            3 => {
                let low = number(random);
                return format!("{low}..{}", low + random.index(3) as i64);
            }
            _ => {}
        }
    }
    match random.index(3) {
        0 => number(random).to_string(),
        1 => format!("{},{}", number(random), number(random)),
        _ => {
            let low = random.index(4);
            format!("{low}-{}", low + random.index(3))
        }
    }
}

fn attribute(random: &mut Random, edition: Edition) -> String {
    format!("[{}]", condition(random, edition))
}

fn block(random: &mut Random, edition: Edition) -> String {
    let conditions: Vec<String> =
        (0..1 + random.index(2)).map(|_| condition(random, edition)).collect();
    format!("{{ {} }}", conditions.join(", "))
}

fn condition(random: &mut Random, edition: Edition) -> String {
    let names = [
        "role",
        "role",
        "kind",
        "ttl",
        "ttl",
        "priority",
        "offset",
        "cycle",
        "nodeType",
        "id",
        "created_at_ns",
        "creation_index",
        "created_at_iso",
        "key",
        "key",
        "tag",
        "type",
        "data_v",
        "data_v",
        "content",
        "parent",
        "age",
        "depth",
        "sdepth",
        "born_turn",
        "tags",
    ];
    let name = names[random.index(names.len())];
    if random.one_in(12) {
        return name.to_owned();
    }
    let mut operators = vec!["=", "=", "=", "!=", "<", "<=", ">", ">="];
    if edition == Edition::V0_3 {
        operators.push("~");
        if random.one_in(12) {
            return format!("{name}=[{},{}]", value(random, name), value(random, name));
        }
    }
    let operator = operators[random.index(operators.len())];
    format!("{name}{operator}{}", value(random, name))
}

fn value(random: &mut Random, name: &str) -> String {
    if random.one_in(10) {
        return random.word(&["null", "9", "'9'", "1.5", "x", "true", "''"]).to_owned();
    }
    match name {
        "role" => random.word(&["user", "tool", "assistant"]).to_owned(),
        "kind" => random.word(&["text", "summary"]).to_owned(),
        "nodeType" => random.word(&["cb", "block", "'mc:group'", "seg"]).to_owned(),
        "type" => random.word(&["cb", "block", "mc", "cont", "seg"]).to_owned(),
        "id" => random.word(&["a1", "b2", "z3", "seq"]).to_owned(),
        "key" => random.word(&["K", "L", "'hero'"]).to_owned(),
        "tag" | "tags" => random.word(&["featured", "summary"]).to_owned(),
        "parent" => random.word(&["seq", "ah", "sys", "root"]).to_owned(),
        "content" => "'Sum'".to_owned(),
        "created_at_iso" => "'1970-01-01T00:00:00.000000001Z'".to_owned(),
        "data_v" => random.word(&["9", "'9'", "1.5", "x", "true"]).to_owned(),
        _ => (random.index(5) as i64 - 1).to_string(),
    }
}

fn path(random: &mut Random, edition: Edition) -> String {
    format!("({})", hops(random, edition))
}

fn hops(random: &mut Random, edition: Edition) -> String {
    let mut hops = Vec::new();
    if !random.one_in(6) {
        hops.push(format!("d{}", random.index(6) as i64 - 1));
        if random.one_in(6) {
            hops.push(format!("d{}", random.index(6) as i64 - 1));
        }
        if random.one_in(3) {
            hops.push("seg".to_owned());
        }
    }
    let words = ["cont", "mc[offset=0]", "*:block", "*:cb[role=user]", "cont", "*:block[key='K']"];
    for _ in 0..random.index(3) {
        let is_last_word = if edition == Edition::V0_3 && random.one_in(4) {
            match random.index(3) {
                0 => format!("{}", random.index(2)),
                1 => "? { role=user }".to_owned(),
                _ => "1:block".to_owned(),
            }
        } else {
            words[random.index(words.len())].to_owned()
        };
        hops.push(is_last_word);
    }
    if hops.is_empty() {
        hops.push("d1".to_owned());
    }
    hops.join(", ")
}
