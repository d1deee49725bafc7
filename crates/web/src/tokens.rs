//! Tokens: who may use the server over HTTP.
//!
//! A token is `tb_ID_SECRET`. The file holds the SHA-256 of the secret, which is 256 random bits: there is nothing to
//! guess, so a slow hash, made for passwords that people choose, would only make every request slow. It is compared in
//! constant time. The file is 0600, replaced as a whole and only under a lock, so that of two processes that change
//! it neither loses the other's change. A running server notices by the file's identity and time that it changed.
//!
//! ```text
//! tokens.json   {"version":1,"tokens":[{"id":"…","name":"…","hash":"…","scope":"write","created":…,"expires":…}]}
//! tokens.lock   locked (flock) by whoever changes it
//! ```
//!
//! Bounds: [`MAX_TOKENS`] tokens, [`MAX_FILE`] bytes.

mod file;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use termbridge_mcp::Scope;

use file::{Stamp, TokenFile};

/// Most tokens.
const MAX_TOKENS: usize = 1024;
/// Longest file.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// How every token begins.
const PREFIX: &str = "tb_";
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;
/// Longest name of a token.
const MAX_NAME: usize = 100;

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// By which it is revoked; the principal of whoever holds it.
    pub id: String,
    /// What its user calls it.
    pub name: String,
    /// Hexadecimal SHA-256 of the secret.
    hash: String,
    /// What it permits.
    pub scope: Scope,
    /// It sees everyone's sessions.
    #[serde(default)]
    pub all_sessions: bool,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// When it ends, in seconds since 1970.
    pub expires: Option<u64>,
    /// The folder that it belongs to.
    pub workspace: Option<PathBuf>,
}

/// What a new token is to be.
#[derive(Debug, Clone, Default)]
pub struct NewToken {
    /// What its user calls it.
    pub name: String,
    /// What it permits.
    pub scope: Scope,
    /// It sees everyone's sessions.
    pub all_sessions: bool,
    /// How long it is valid.
    pub lifetime: Option<Duration>,
    /// The folder that it belongs to.
    pub workspace: Option<PathBuf>,
}

/// Why the tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: std::io::Error,
    },
    /// Others could read or change it.
    #[error("{} is open to others (mode {mode:03o}): run `chmod 600 {}`", path.display(), path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is not what we wrote.
    #[error("{} is damaged ({why}): restore it, or remove it and make new tokens", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// There is no room for more.
    #[error(
        "there are {MAX_TOKENS} tokens, which is the limit: revoke some with `termbridge token revoke ID`"
    )]
    Full,
    /// No token has this id.
    #[error("there is no token {0:?}: `termbridge token list` shows the ids")]
    Unknown(String),
    /// A name that is too long or not plain text.
    #[error("a token's name is at most {MAX_NAME} characters of plain text")]
    BadName,
    /// There was no randomness.
    #[error("the system has no random numbers: {0}")]
    NoRandomness(String),
}

impl Token {
    /// Whether it is valid at a time.
    pub fn is_valid_at(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| seconds(now) < expires)
    }
}

/// The tokens in a file.
#[derive(Debug)]
pub struct TokenStore {
    file: TokenFile,
    /// What was read last, and of which file.
    read: Mutex<Option<(Stamp, Arc<Vec<Token>>)>>,
}

impl TokenStore {
    /// The tokens in a folder; nothing is read or made yet.
    pub fn new(folder: &Path) -> Self {
        Self { file: TokenFile::new(folder), read: Mutex::default() }
    }

    /// Makes a token; its text is not kept and cannot be had again.
    pub fn create(&self, new: NewToken) -> Result<(Token, String), TokenError> {
        if new.name.chars().count() > MAX_NAME || new.name.chars().any(char::is_control) {
            return Err(TokenError::BadName);
        }
        let (id, secret) = (random::<ID_BYTES>()?, random::<SECRET_BYTES>()?);
        let created = seconds(SystemTime::now());
        let token = Token {
            name: new.name,
            hash: hash(&secret),
            scope: new.scope,
            all_sessions: new.all_sessions,
            created,
            expires: new.lifetime.map(|lifetime| created.saturating_add(lifetime.as_secs())),
            workspace: new.workspace,
            id,
        };
        self.file.change(|tokens| match tokens.len() >= MAX_TOKENS {
            true => Err(TokenError::Full),
            false => {
                tokens.push(token.clone());
                Ok(())
            }
        })?;
        let text = format!("{PREFIX}{}_{secret}", token.id);
        Ok((token, text))
    }

    /// Takes a token back.
    pub fn revoke(&self, id: &str) -> Result<Token, TokenError> {
        let mut revoked = None;
        self.file.change(|tokens| {
            let at = tokens.iter().position(|token| token.id == id);
            let at = at.ok_or_else(|| TokenError::Unknown(id.to_owned()))?;
            revoked = Some(tokens.remove(at));
            Ok(())
        })?;
        revoked.ok_or_else(|| TokenError::Unknown(id.to_owned()))
    }

    /// All tokens, those that have expired included. Reads the file only when it has changed.
    pub fn all(&self) -> Result<Arc<Vec<Token>>, TokenError> {
        let stamp = self.file.stamp()?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tokens)) = &*read
            && *of == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        // The stamp is that of the file before it was read: a change in between is read again.
        let tokens = Arc::new(self.file.read()?);
        *read = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }

    /// The valid token with this text.
    pub fn verify(&self, text: &str) -> Result<Option<Token>, TokenError> {
        let Some((id, secret)) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_'))
        else {
            return Ok(None);
        };
        let tokens = self.all()?;
        let presented = hash(secret);
        let found = tokens.iter().find(|token| token.id == id);
        let matches =
            found.filter(|token| bool::from(token.hash.as_bytes().ct_eq(presented.as_bytes())));
        Ok(matches.filter(|token| token.is_valid_at(SystemTime::now())).cloned())
    }

    /// Whether a token is there and valid.
    pub fn is_valid(&self, id: &str) -> Result<bool, TokenError> {
        let now = SystemTime::now();
        Ok(self.all()?.iter().any(|token| token.id == id && token.is_valid_at(now)))
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn random<const BYTES: usize>() -> Result<String, TokenError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| TokenError::NoRandomness(error.to_string()))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn new(name: &str) -> NewToken {
        NewToken { name: name.into(), ..NewToken::default() }
    }

    #[test]
    fn a_token_is_what_its_text_says_until_it_is_revoked() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ours, theirs) = (TokenStore::new(folder.path()), TokenStore::new(folder.path()));
        assert_eq!(ours.verify("tb_aa_bb").expect("no file"), None);
        let (token, text) = theirs.create(new("one")).expect("made");
        assert_eq!(ours.verify(&text).expect("read"), Some(token.clone()));
        let file = std::fs::read_to_string(folder.path().join("tokens.json")).expect("a file");
        let secret = text.rsplit('_').next().expect("a secret");
        assert!(secret.len() == 64 && !file.contains(secret), "{file}");
        for wrong in [
            "",
            "tb_",
            "tb__",
            &text[3..],
            &format!("{text}0"),
            &text[..text.len() - 1],
            &format!("tb_{}_{}", "0".repeat(12), secret),
            &format!("tb_{}_", token.id),
            &text.to_uppercase(),
        ] {
            assert_eq!(ours.verify(wrong).expect("read"), None, "{wrong}");
        }
        theirs.revoke(&token.id).expect("revoked");
        assert_eq!(ours.verify(&text).expect("read"), None);
        assert!(matches!(theirs.revoke(&token.id), Err(TokenError::Unknown(_))));
    }

    #[test]
    fn a_token_that_expired_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = TokenStore::new(folder.path());
        let lasting = |lifetime| NewToken { lifetime: Some(lifetime), ..new("x") };
        let (_, over) = store.create(lasting(Duration::ZERO)).expect("made");
        let (token, valid) = store.create(lasting(Duration::from_hours(1))).expect("made");
        assert_eq!(store.verify(&over).expect("read"), None);
        assert!(store.verify(&valid).expect("read").is_some());
        assert!(!token.is_valid_at(SystemTime::now() + Duration::from_hours(1)));
        assert_eq!(store.all().expect("read").len(), 2);
    }

    #[test]
    fn changes_of_many_at_once_are_all_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let store = TokenStore::new(folder.path());
                scope.spawn(move || {
                    for each in 0..8 {
                        store.create(new(&format!("{number} {each}"))).expect("made");
                    }
                });
            }
        });
        let tokens = TokenStore::new(folder.path()).all().expect("read");
        let names: std::collections::BTreeSet<&str> =
            tokens.iter().map(|token| token.name.as_str()).collect();
        assert_eq!(names.len(), 64);
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }

    #[test]
    fn a_file_that_others_may_read_or_that_is_damaged_admits_nobody() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = TokenStore::new(folder.path());
        let (_, text) = store.create(new("one")).expect("made");
        let path = folder.path().join("tokens.json");
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
        mode(0o644).expect("set");
        assert!(matches!(store.verify(&text), Err(TokenError::Open { .. })));
        mode(0o600).expect("set");
        assert!(store.verify(&text).expect("read").is_some());
        for content in ["", "{}", "[]", "{\"version\":2,\"tokens\":[]}"] {
            std::fs::write(&path, content).expect("written");
            assert!(matches!(store.verify(&text), Err(TokenError::Damaged { .. })), "{content}");
            assert!(store.create(new("two")).is_err(), "{content}");
        }
    }
}
