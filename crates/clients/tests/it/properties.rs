//! What holds for every document.

use proptest::prelude::*;
use termbridge_clients::{Action, Client, Error, masked};

use crate::documents::{json_document, toml_document};
use crate::support::{Home, entry};

/// Installs and uninstalls: the same bytes are there, and install found the entry that it wrote.
fn comes_back(client: Client, file: &str, text: &str) -> Result<(), TestCaseError> {
    let home = Home::linux();
    home.write(file, text);
    prop_assert_eq!(home.install(client), Action::Add);
    let installed = home.read(file);
    prop_assert_eq!(home.install(client), Action::AlreadyThere);
    prop_assert_eq!(home.uninstall(client), Action::Remove);
    prop_assert_eq!(home.read(file), text, "by way of {:?}", installed);
    Ok(())
}

/// Neither installing nor uninstalling panics, and what is refused is left as it is.
fn is_handled(client: Client, file: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    let home = Home::linux();
    let path = home.write(file, bytes);
    for plan in [home.plan(client, &entry()), home.plan_removal(client)] {
        match plan {
            Ok(plan) => {
                prop_assert_eq!(plan.diff().is_empty(), !plan.action().is_change());
            }
            Err(error) => prop_assert!(
                matches!(error, Error::Broken { .. } | Error::Foreign { .. }),
                "{:?}",
                error
            ),
        }
    }
    prop_assert_eq!(std::fs::read(path).expect("readable"), bytes);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn install_then_uninstall_gives_the_same_json(text in json_document()) {
        comes_back(Client::Cursor, ".cursor/mcp.json", &text)?;
    }

    #[test]
    fn install_then_uninstall_gives_the_same_toml(text in toml_document()) {
        comes_back(Client::Codex, ".codex/config.toml", &text)?;
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        is_handled(Client::Cursor, ".cursor/mcp.json", &bytes)?;
        is_handled(Client::Codex, ".codex/config.toml", &bytes)?;
    }

    #[test]
    fn no_cut_or_mixed_document_causes_a_panic(
        text in json_document(),
        other in toml_document(),
        cut in any::<prop::sample::Index>(),
        piece in "(\"termbridge\"|\\{|\\}|\\[|,|:|//|/\\*|\r|\u{feff}|é|\"mcpServers\"|null){0,3}",
    ) {
        for (text, client, file) in [
            (&text, Client::Cursor, ".cursor/mcp.json"),
            (&other, Client::Codex, ".codex/config.toml"),
            (&other, Client::Zed, ".config/zed/settings.json"),
        ] {
            let mut at = cut.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            is_handled(client, file, &text.as_bytes()[..at])?;
            let mixed = format!("{}{piece}{}", &text[..at], &text[at..]);
            is_handled(client, file, mixed.as_bytes())?;
        }
    }
}

proptest! {
    #[test]
    fn masked_lines_stay_lines(text in json_document(), more in "[\\[\\]{}\"'=:,#/*a\n\\\\]{0,40}") {
        for text in [&text, &more] {
            prop_assert_eq!(masked(text).matches('\n').count(), text.matches('\n').count());
        }
    }
}
