//! What the documentation must not leave out.

use std::fs;

use crate::metadata::root;

#[test]
fn every_error_code_has_its_page_entry() {
    let page = fs::read_to_string(root().join("docs/errors.md")).unwrap();
    for code in qadra_types::Code::ALL {
        let heading = format!("## {}", code.as_str());
        assert!(
            page.lines().any(|l| l.trim() == heading),
            "docs/errors.md lacks `{heading}`"
        );
    }
}

#[test]
fn every_crate_is_on_the_map() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            map.contains(&format!("crates/{name}")),
            "ARCHITECTURE.md does not name crates/{name}"
        );
    }
}

#[test]
fn links_between_our_documents_lead_somewhere() {
    let mut pages = vec![root()];
    let mut broken = Vec::new();
    let mut seen = 0;
    while let Some(dir) = pages.pop() {
        for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
            let name = entry
                .file_name()
                .and_then(|n| n.to_str())
                .unwrap_or_default()
                .to_owned();
            if entry.is_dir()
                && !matches!(
                    name.as_str(),
                    "node_modules" | "target" | ".git" | "dist" | "out"
                )
            {
                pages.push(entry);
            } else if name.ends_with(".md") {
                let text = fs::read_to_string(&entry).unwrap();
                for target in text
                    .split("](")
                    .skip(1)
                    .filter_map(|rest| rest.split(')').next())
                {
                    let path = target.split('#').next().unwrap_or_default();
                    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
                        continue;
                    }
                    seen += 1;
                    if !entry.parent().unwrap().join(path).exists() {
                        broken.push(format!("{}: {target}", entry.display()));
                    }
                }
            }
        }
    }
    assert!(seen > 10 && broken.is_empty(), "{broken:#?}");
}
