//! Symbols by their names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::calls::Names;
use super::language::Language;
use super::outline::{Outline, Symbol};
use super::pool::MAX_SERVERS;
use super::protocol::{WorkspaceSymbol, kind_name};
use super::server::{Deadline, Server};
use super::{
    LanguageServers, SearchMode, SearchQuery, SymbolInfo, Symbols, in_background, scan, uri,
};
use crate::CodeError;

/// Files that are listed where all symbols are wanted.
const MAX_LISTED_FILES: usize = 200;
/// Answers of a server that are looked at.
const MAX_CANDIDATES: usize = 2000;
/// Projects that are looked for; all but the first are named as not searched.
const MAX_PROJECTS: usize = 16;
/// Symbols that an answer can hold.
const MAX_LIMIT: usize = 1000;

/// What a symbol must be to be found.
#[derive(Debug, Clone)]
struct Filter {
    /// In small letters, with `.` between names.
    query: String,
    kinds: Vec<&'static str>,
}

/// What one server found.
#[derive(Debug, Default)]
struct Found {
    symbols: Vec<SymbolInfo>,
    unsearched: Vec<String>,
}

impl LanguageServers {
    /// Finds symbols by a part of their name.
    ///
    /// A workspace with several languages is asked of the servers of each; where one is not
    /// installed or does not answer, the result says so, and it is an error only when none does.
    pub async fn search(
        &self,
        query: &SearchQuery,
        timeout: Duration,
    ) -> Result<Symbols, CodeError> {
        let deadline = Deadline::after(timeout);
        let text = query.query.trim().replace("::", ".");
        let filter = Filter { query: text.to_lowercase(), kinds: query.kinds()? };
        let mut found = match query.mode {
            SearchMode::Workspace => self.search_workspace(&text, filter, deadline).await?,
            SearchMode::Document => {
                let path = query.path.as_deref().ok_or_else(|| {
                    CodeError::InvalidParams("a search in a document needs its path".to_owned())
                })?;
                let path = self.existing(path)?;
                let look = async {
                    let mut turn = self.turn_for(&path, deadline).await?;
                    turn.server()?.outline(&path, deadline).await
                };
                let outline = deadline.bound(look).await?;
                Found { symbols: self.matching(&outline, &path, &filter), ..Found::default() }
            }
        };
        let total = found.symbols.len();
        found.symbols.truncate(query.limit.clamp(1, MAX_LIMIT));
        Ok(Symbols { symbols: found.symbols, total, unsearched: found.unsearched })
    }

    async fn search_workspace(
        &self,
        query: &str,
        filter: Filter,
        deadline: Deadline,
    ) -> Result<Found, CodeError> {
        let workspace = self.workspace.clone();
        let projects = in_background(move || scan::projects(&workspace, MAX_PROJECTS)).await?;
        let projects = by_turns(projects);
        let mut all = Found::default();
        for (language, root) in projects.iter().skip(MAX_SERVERS) {
            let (name, root) = (language.name(), self.shown(root));
            all.unsearched.push(format!("{name} in {root}: too many projects"));
        }
        if projects.len() == MAX_PROJECTS {
            all.unsearched.push("any projects after that".to_owned());
        }
        let mut tasks = JoinSet::new();
        for (number, (language, root)) in projects.into_iter().take(MAX_SERVERS).enumerate() {
            let (servers, query, filter) = (self.clone(), query.to_owned(), filter.clone());
            tasks.spawn(async move {
                let found =
                    servers.search_project(language, &root, &query, &filter, deadline).await;
                (number, language, found)
            });
        }
        let mut answers = tasks.join_all().await;
        answers.sort_by_key(|(number, ..)| *number);
        let mut failure = None;
        let mut answered = answers.is_empty();
        for (_, language, answer) in answers {
            match answer {
                Ok(found) => {
                    answered = true;
                    all.symbols.extend(found.symbols);
                    all.unsearched.extend(found.unsearched);
                }
                Err(error) => {
                    all.unsearched.push(format!("{}: {error}; {}", language.name(), error.hint()));
                    // One that may yet answer is more than one that is not installed.
                    let better = |old: &CodeError| is_missing(old) && !is_missing(&error);
                    if failure.as_ref().is_none_or(better) {
                        failure = Some(error);
                    }
                }
            }
        }
        if let (false, Some(error)) = (answered, failure) {
            return Err(error);
        }
        let rank = |symbol: &SymbolInfo| {
            let name = symbol.name.to_lowercase();
            let last = filter.query.rsplit('.').next().unwrap_or_default();
            match () {
                () if name == last => 0,
                () if name.starts_with(last) => 1,
                () => 2,
            }
        };
        all.symbols.sort_by_cached_key(|symbol| (rank(symbol), symbol.path.clone(), symbol.line));
        // Projects within others are found twice.
        all.symbols.dedup_by(|a, b| a.node_id == b.node_id && a.line == b.line);
        Ok(all)
    }

    async fn search_project(
        &self,
        language: Language,
        root: &Path,
        query: &str,
        filter: &Filter,
        deadline: Deadline,
    ) -> Result<Found, CodeError> {
        let mut turn = self.pool.turn(language, root, deadline).await?;
        let server = turn.server()?;
        server.sync().await?;
        let sources = server.sources();
        if let Some(first) = sources.first() {
            // Some read the project only when a file of it is open.
            server.outline(first, deadline).await?;
        }
        if query.is_empty() {
            return self.list_all(server, &sources, filter, deadline).await;
        }
        let incomplete = server.ready_to_read(deadline).await?;
        let last = query.rsplit('.').next().unwrap_or(query);
        let answer: Option<Vec<WorkspaceSymbol>> =
            server.ask("workspace/symbol", json!({"query": last}), deadline).await?;
        let wanted = last.to_lowercase();
        let mut names = Names::default();
        let mut found = Found { unsearched: incomplete.into_iter().collect(), ..Found::default() };
        for candidate in answer.unwrap_or_default().into_iter().take(MAX_CANDIDATES) {
            // Servers also find what only resembles the query.
            let Some(path) = uri::to_path(&candidate.location.uri) else { continue };
            if !candidate.name.to_lowercase().contains(&wanted)
                || !path.starts_with(&self.workspace)
            {
                continue;
            }
            let outline = names.outline(server, &path, deadline).await;
            let place = candidate.location.range.start;
            let symbol =
                outline.and_then(|outline| Some((outline, outline.at(place, &candidate.name)?)));
            match symbol {
                Some((outline, symbol)) if filter.accepts(&symbol.qualified, symbol.kind) => {
                    found.symbols.push(self.info(outline, symbol, &path));
                }
                Some(_) => {}
                None if filter.accepts(&candidate.name, candidate.kind) => {
                    found.symbols.push(self.plain_info(candidate, &path));
                }
                None => {}
            }
        }
        Ok(found)
    }

    /// Every symbol, file by file: servers do not answer an empty query.
    async fn list_all(
        &self,
        server: &mut Server,
        sources: &[std::path::PathBuf],
        filter: &Filter,
        deadline: Deadline,
    ) -> Result<Found, CodeError> {
        let mut found = Found::default();
        for path in sources.iter().take(MAX_LISTED_FILES) {
            match server.outline_of_closed(path, deadline).await {
                Ok(outline) => found.symbols.extend(self.matching(&outline, path, filter)),
                Err(error @ (CodeError::Timeout { .. } | CodeError::Internal(_))) => {
                    return Err(error);
                }
                Err(error) => found.unsearched.push(format!("{}: {error}", self.shown(path))),
            }
        }
        if sources.len() > MAX_LISTED_FILES {
            let (files, name) = (sources.len(), server.language.name());
            let note = format!("{name}: only {MAX_LISTED_FILES} of {files} files; give a query");
            found.unsearched.push(note);
        }
        Ok(found)
    }

    fn matching(&self, outline: &Outline, path: &Path, filter: &Filter) -> Vec<SymbolInfo> {
        let symbols = outline.symbols.iter().filter(|symbol| !symbol.is_local);
        let symbols = symbols.filter(|symbol| filter.accepts(&symbol.qualified, symbol.kind));
        symbols.map(|symbol| self.info(outline, symbol, path)).collect()
    }

    fn info(&self, outline: &Outline, symbol: &Symbol, path: &Path) -> SymbolInfo {
        let path = self.shown(path);
        SymbolInfo {
            name: symbol.name.clone(),
            kind: kind_name(symbol.kind).to_owned(),
            line: symbol.line(),
            node_id: outline.node_id(symbol, &path),
            path,
        }
    }

    /// For a file whose symbols were not asked for.
    fn plain_info(&self, symbol: WorkspaceSymbol, path: &Path) -> SymbolInfo {
        let (path, kind) = (self.shown(path), kind_name(symbol.kind));
        let node_id = format!("{}:{path}:{}", kind.to_lowercase(), symbol.name);
        let line = u64::from(symbol.location.range.start.line) + 1;
        SymbolInfo { name: symbol.name, kind: kind.to_owned(), path, line, node_id }
    }
}

fn is_missing(error: &CodeError) -> bool {
    matches!(error, CodeError::NoLanguageServer { .. })
}

impl Filter {
    fn accepts(&self, qualified: &str, kind: u32) -> bool {
        let of_kind = self.kinds.is_empty() || self.kinds.contains(&kind_name(kind));
        // The names around it count only where the query has one too.
        let name = match self.query.contains('.') {
            true => qualified,
            false => qualified.rsplit('.').next().unwrap_or(qualified),
        };
        of_kind && name.to_lowercase().contains(&self.query)
    }
}

/// The first project of each language, then the second of each.
fn by_turns(projects: Vec<(Language, PathBuf)>) -> Vec<(Language, PathBuf)> {
    let mut counts: HashMap<Language, usize> = HashMap::new();
    let mut turns: Vec<_> = projects
        .into_iter()
        .map(|project| {
            let count = counts.entry(project.0).or_default();
            *count += 1;
            (*count, project)
        })
        .collect();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, project)| project).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_turn() {
        let project = |language, root: &str| (language, PathBuf::from(root));
        let (python, rust) = (Language::Python, Language::Rust);
        let found = vec![project(python, "a"), project(python, "b"), project(rust, "c")];
        let turns: Vec<_> = by_turns(found).into_iter().map(|(_, root)| root).collect();
        assert_eq!(turns, ["a", "c", "b"].map(PathBuf::from));
    }
}
