//! Variables with what is inside them, within a budget.

use std::collections::VecDeque;

use super::DebugSession;
use super::inspect::{Page, VariableFilter};
use super::one_line::Detail;
use super::stop_report::size_of;
use crate::error::DebugError;
use crate::report::{ScopeKind, VariableInfo, VariableNode};

/// Children of one value that are looked at.
const MAX_CHILDREN: u64 = 100;
/// Bytes of what is inside values, beside a look at all scopes: as much as a stop shows. A look at one scope may take all.
const INSIDE_BUDGET: usize = 4 * 1024;
/// Values behind one that keep room for themselves.
const MAX_SHARING: usize = 3;
/// Functions that make a library out of a value, where they are most of its parts.
const MANY_FUNCTIONS: usize = 8;
/// Values that are looked into.
const MAX_EXPANDED: usize = 200;

/// Which scopes are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScopeFilter {
    /// All but registers and what takes long to read.
    #[default]
    All,
    /// One kind.
    Only(ScopeKind),
}

/// The variables of a frame, by scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableTree {
    /// The scopes, each with its variables.
    pub scopes: Vec<(String, Vec<VariableNode>)>,
    /// What was left out for want of room.
    pub rest: Vec<ScopeRest>,
}

/// The variables of a scope behind those that are in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRest {
    /// The scope's name.
    pub scope: String,
    /// The reference by which they can be read.
    pub reference: u64,
    /// The number of the first.
    pub start: usize,
    /// How many there are.
    pub count: usize,
}

/// A node while the tree grows, breadth first: what is near counts more than what is deep.
struct Grown {
    variable: VariableInfo,
    children: Vec<usize>,
    left_out: usize,
}

impl DebugSession {
    /// The variables of a frame, without one of the latest stop's, `depth` levels deep and at most
    /// `budget` bytes.
    pub async fn variable_tree(
        &self,
        frame: Option<u64>,
        filter: ScopeFilter,
        depth: u32,
        budget: usize,
    ) -> Result<VariableTree, DebugError> {
        let frame = match frame {
            Some(frame) => frame,
            None => self.inner.focus().await?.id,
        };
        let (mut nodes, mut budget) = (Vec::new(), budget);
        let mut roots = Vec::new();
        let mut open = VecDeque::new();
        let mut rest = Vec::new();
        for scope in self.scopes(frame).await? {
            let wanted = match filter {
                ScopeFilter::All => scope.kind != ScopeKind::Registers && !scope.expensive,
                ScopeFilter::Only(kind) => scope.kind == kind,
            };
            if !wanted || scope.reference == 0 {
                continue;
            }
            // What is looked into below needs no line of its own.
            let detail = if depth == 0 { Detail::FULL } else { Detail::NONE };
            let (variables, more) = self.children(scope.reference, None, detail).await?;
            let (kept, left) = keep(variables, &mut budget, &mut nodes);
            // Beside the locals, globals are shown but not looked into: there are many, and they are
            // seldom asked for.
            let aside = filter == ScopeFilter::All && scope.kind == ScopeKind::Global;
            let level = if aside { depth + 1 } else { 1 };
            open.extend(kept.iter().map(|index| (*index, level)));
            if left + more > 0 {
                let (scope, reference) = (scope.name.clone(), scope.reference);
                rest.push(ScopeRest { scope, reference, start: kept.len(), count: left + more });
            }
            roots.push((scope.name, kept));
        }
        if filter == ScopeFilter::All {
            budget = budget.min(INSIDE_BUDGET);
        }
        let mut expanded = 0;
        while let Some((index, level)) = open.pop_front() {
            let variable: &VariableInfo = &nodes[index].variable;
            let closed = level > depth || variable.reference == 0 || is_opaque(variable);
            if closed || expanded == MAX_EXPANDED || budget == 0 {
                continue;
            }
            expanded += 1;
            let (reference, indexed) = (variable.reference, variable.indexed);
            // A value that cannot be looked into is still a value.
            let detail = if level == depth { Detail::FULL } else { Detail::NONE };
            let children = self.children(reference, indexed, detail).await;
            let Ok((children, more)) = children else { continue };
            if is_library(&children) {
                continue;
            }
            // A long list leaves room for the values behind it.
            let sharing = if filter == ScopeFilter::All { open.len().min(MAX_SHARING) } else { 0 };
            let share = budget / (sharing + 1);
            let mut left_of_share = share;
            let (kept, left) = keep(children, &mut left_of_share, &mut nodes);
            budget -= share - left_of_share;
            open.extend(kept.iter().map(|index| (*index, level + 1)));
            nodes[index].children = kept;
            nodes[index].left_out = left + more;
        }
        let mut nodes: Vec<_> = nodes.into_iter().map(Some).collect();
        let mut build = |kept: Vec<usize>| -> Vec<VariableNode> {
            kept.into_iter().filter_map(|index| assemble(index, &mut nodes)).collect()
        };
        let scopes = roots.into_iter().map(|(name, kept)| (name, build(kept))).collect();
        Ok(VariableTree { scopes, rest })
    }

    /// The first children of a value, and how many are left out.
    async fn children(
        &self,
        reference: u64,
        indexed: Option<u64>,
        detail: Detail,
    ) -> Result<(Vec<VariableInfo>, usize), DebugError> {
        let (link, container) = self.inner.container(reference)?;
        if self.inner.adapter.quirks().has_rest() {
            let (mut children, rest) = self.inner.some_children(link, container).await?;
            let given = children.len();
            let length = children.iter().rev().find(|child| child.name == "len()");
            let length = length.and_then(|child| child.value.parse::<usize>().ok());
            children.truncate(MAX_CHILDREN as usize);
            let all = if rest.is_empty() { given } else { length.unwrap_or(given + 1) };
            let children = children.into_iter().map(|child| self.inner.variable(link, child));
            return Ok((children.collect(), all.saturating_sub(MAX_CHILDREN as usize)));
        }
        let page = Page { start: 0, count: MAX_CHILDREN };
        let filter = match indexed {
            Some(count) if count > MAX_CHILDREN => VariableFilter::Indexed,
            _ => VariableFilter::All,
        };
        let mut page = self.inner.variables(link, container, filter, page, detail).await?;
        // It is no part of the program's data.
        page.variables.retain(|variable| variable.name != "[[Prototype]]");
        let more = indexed.unwrap_or(0).saturating_sub(MAX_CHILDREN) as usize;
        let more = more.max(page.known_rest());
        Ok((page.variables, more))
    }
}

/// Values whose insides are the language's and not the program's.
fn is_opaque(variable: &VariableInfo) -> bool {
    let kind = variable.kind.as_deref().unwrap_or_default();
    matches!(kind, "module" | "function" | "type" | "method" | "builtin_function_or_method")
        || kind.to_ascii_lowercase().ends_with("function")
        || kind == "global"
        || variable.name == "[[Scopes]]"
}

/// Whether a value with these parts is a library, as `require` gives it: nobody wants to read the list of its functions.
fn is_library(children: &[VariableInfo]) -> bool {
    let functions = children.iter().filter(|child| {
        let kind = child.kind.as_deref().unwrap_or_default();
        kind.eq_ignore_ascii_case("function")
    });
    let functions = functions.count();
    functions >= MANY_FUNCTIONS && 2 * functions > children.len()
}

/// Keeps the first variables, as far as there is room, and says how many are behind them.
fn keep(
    variables: Vec<VariableInfo>,
    budget: &mut usize,
    nodes: &mut Vec<Grown>,
) -> (Vec<usize>, usize) {
    let (mut kept, all) = (Vec::new(), variables.len());
    for variable in variables {
        let size = size_of(&variable);
        if size > *budget {
            break;
        }
        *budget -= size;
        kept.push(nodes.len());
        nodes.push(Grown { variable, children: Vec::new(), left_out: 0 });
    }
    let left_out = all - kept.len();
    (kept, left_out)
}

fn assemble(index: usize, nodes: &mut [Option<Grown>]) -> Option<VariableNode> {
    let node = nodes[index].take()?;
    let children = node.children.into_iter().filter_map(|child| assemble(child, nodes)).collect();
    Some(VariableNode { variable: node.variable, children, left_out: node.left_out })
}
