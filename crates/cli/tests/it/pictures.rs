//! The pictures of the documents: real output, drawn.

use std::fs;

use anstyle_svg::Term;

use crate::pages::root;
use crate::transcript::{Folder, compare, updates};

/// Draws a command with its output into `docs/pictures`.
fn picture(name: &str, command: &str) {
    let folder = Folder::new();
    let (printed, _) = folder.run(&format!("COLUMNS=100 {command} --color always"));
    let shown = format!("\u{1b}[1m$ {command}\u{1b}[0m\n{printed}");
    // Dimmed text is as light as on a terminal, not at the edge of what can be read.
    let drawn = Term::new().render_svg(shown.trim_end());
    let drawn = drawn.replace(".dimmed { opacity: 0.4; }", ".dimmed { opacity: 0.7; }");
    let file = root().join("docs/pictures").join(format!("{name}.svg"));
    if updates() {
        fs::create_dir_all(root().join("docs/pictures")).expect("the folder can be made");
        fs::write(file, drawn).expect("the picture can be written");
    } else {
        compare(name, &fs::read_to_string(file).unwrap_or_default(), &drawn);
    }
}

#[test]
fn the_picture_of_a_tree_is_up_to_date() {
    picture("show", "ctx show -f draft.json");
}

#[test]
fn the_picture_of_a_diff_is_up_to_date() {
    picture("diff", "ctx diff -f draft.json 2 @");
}

#[test]
fn the_picture_of_a_selection_is_up_to_date() {
    picture("select", "ctx select -f draft.json '^seq .block'");
}
