use crate::{outline, read_named};

#[test]
fn front_matter_tables_lists_and_code_become_blocks() {
    let source = "---\ntitle: \"The Guide\"\nauthor: X\n---\n\n# First *part*\n\nSome [linked](http://x) text\nand `code`.\n\n\
        | Name | Age |\n|------|----:|\n| Ann  | 31  |\n\n- one\n  - two\n\n  still two\n- three\n\n3. third\n4. fourth\n\n\
        ```rust\nfn main() {\n    go();\n}\n```\n\n<div>\n<script>no()</script>\nfrom <b>HTML</b>\n</div>\n\n> quoted\n";
    let text = read_named(source.as_bytes(), "guide.md").unwrap();
    assert_eq!(text.title.as_deref(), Some("The Guide"));
    assert_eq!(
        outline(&text),
        "h1 First part\np Some linked text and code.\ntr | Name | Age |\ntr | Ann | 31 |\nli - one\nli - two\np still two\n\
        li - three\nli 3. third\nli 4. fourth\ncode fn main() {⏎    go();⏎}\np from HTML\np quoted"
    );
    assert!(
        text.content
            .contains("| Name | Age |\n| Ann | 31 |\n\n- one\n- two")
    );
}

#[test]
fn deep_quotes_and_lists_are_read() {
    let deep = format!("{} end", ">".repeat(20_000));
    assert!(
        read_named(deep.as_bytes(), "a.md")
            .unwrap()
            .content
            .ends_with("end")
    );
    let brackets = "[".repeat(50_000);
    assert!(read_named(brackets.as_bytes(), "a.md").is_ok());
}
