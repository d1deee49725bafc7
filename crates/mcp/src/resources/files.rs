//! Files as resources: `file:///PATH`, read-only, inside the directories that the policy allows.
//!
//! A listing has the directories from which the client begins, and what lies in them, page by page; a directory is read
//! as the list of its entries, each with its address, so that a client finds its way down. A file is text where it is
//! UTF-8, else a blob.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use termbridge_bridge::code::file_address;
pub(crate) use termbridge_bridge::code::file_address::of_path as address;
use termbridge_bridge::{Bridge, BridgeError, Caller, FileContents, FileEntry, MAX_DIRECTORY};

/// The cursor behind the resources that are no files.
pub(crate) const FIRST: &str = "files:";
/// Files in one page of a listing.
const PAGE: usize = 100;
/// What a directory is.
const DIRECTORY: &str = "inode/directory";

/// Types of text that clients treat in their own way; other text is plain.
const TEXT_TYPES: [(&str, &str); 16] = [
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("py", "text/x-python"),
    ("rs", "text/x-rust"),
    ("sh", "application/x-sh"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

/// Types of the rest.
const BINARY_TYPES: [(&str, &str); 10] = [
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("ico", "image/vnd.microsoft.icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("wasm", "application/wasm"),
    ("webp", "image/webp"),
    ("zip", "application/zip"),
];

/// The file that an address names, if it is an address of one on this machine.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    // Neither is part of a path.
    if uri.contains(['?', '#']) { None } else { file_address::to_path(uri) }
}

/// The template of their addresses, for a client that may read them.
pub(crate) fn template(bridge: &Bridge, caller: &Caller) -> Option<ResourceTemplate> {
    bridge.has_files(caller).then(|| ResourceTemplate::new("file:///{+path}", "file or directory"))
}

/// A page of the listing behind a cursor, and the next cursor; `None` for a cursor that is none of ours.
pub(crate) async fn list(
    bridge: &Bridge,
    caller: &Caller,
    cursor: &str,
) -> Option<(Vec<Resource>, Option<String>)> {
    let after = match cursor.strip_prefix(FIRST)? {
        "" => None,
        address => Some(path_of(address)?),
    };
    let mut found: Vec<FileEntry> = Vec::new();
    for root in bridge.file_roots(caller).await {
        if let Ok(Some(FileContents::Directory { entries, .. })) =
            bridge.read_file(caller, &root).await
        {
            found.push(FileEntry { path: root, is_directory: true, size: 0 });
            found.extend(entries);
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found.dedup_by(|one, other| one.path == other.path);
    found.retain(|entry| after.as_ref().is_none_or(|after| entry.path > *after));
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| more);
    let next = next.map(|last| format!("{FIRST}{}", address(&last.path)));
    Some((found.iter().map(resource).collect(), next))
}

fn resource(entry: &FileEntry) -> Resource {
    let name = entry.path.file_name().unwrap_or(entry.path.as_os_str()).to_string_lossy();
    let resource = Resource::new(address(&entry.path), name);
    if entry.is_directory {
        return resource.with_mime_type(DIRECTORY);
    }
    let mut resource = match type_of(&entry.path) {
        Some(known) => resource.with_mime_type(known),
        None => resource,
    };
    resource.size = Some(entry.size);
    resource
}

/// What an address leads to; `None` where there is nothing for the caller to read.
pub(crate) async fn read(
    bridge: &Bridge,
    caller: &Caller,
    uri: &str,
) -> Result<Option<ResourceContents>, BridgeError> {
    let Some(path) = path_of(uri) else { return Ok(None) };
    let contents = bridge.read_file(caller, &path).await?;
    Ok(contents.map(|contents| match contents {
        FileContents::Directory { entries, is_cut } => {
            ResourceContents::text(listing(&entries, is_cut), uri).with_mime_type(DIRECTORY)
        }
        FileContents::File(bytes) => file(&path, bytes, uri),
    }))
}

fn listing(entries: &[FileEntry], is_cut: bool) -> String {
    let line = |entry: &FileEntry| match entry.is_directory {
        true => format!("{}/\n", address(&entry.path)),
        false => format!("{} {} bytes\n", address(&entry.path), entry.size),
    };
    let mut text: String = entries.iter().map(line).collect();
    if is_cut {
        text.push_str(&format!("[… only {MAX_DIRECTORY} entries were looked at …]\n"));
    }
    text
}

fn file(path: &Path, bytes: Vec<u8>, uri: &str) -> ResourceContents {
    let known = type_of(path);
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            let known = known.filter(|known| !is_binary(known)).unwrap_or("text/plain");
            ResourceContents::text(text, uri).with_mime_type(known)
        }
        Ok(text) => blob(text.as_bytes(), known, uri),
        Err(error) => blob(error.as_bytes(), known, uri),
    }
}

fn blob(bytes: &[u8], known: Option<&str>, uri: &str) -> ResourceContents {
    let known = known.filter(|known| is_binary(known)).unwrap_or("application/octet-stream");
    ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(known)
}

fn is_binary(known: &str) -> bool {
    BINARY_TYPES.iter().any(|(_, kind)| *kind == known)
}

fn type_of(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let mut all = TEXT_TYPES.iter().chain(&BINARY_TYPES);
    all.find(|(known, _)| *known == extension).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_more_than_a_path_is_none() {
        for uri in ["file:///a?b", "file:///a#b", "file://elsewhere/etc/passwd", "http:///a"] {
            assert_eq!(path_of(uri), None, "{uri}");
        }
        let path = std::env::temp_dir().join("a?b#c");
        assert_eq!(path_of(&address(&path)), Some(path));
    }
}
