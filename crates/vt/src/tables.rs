//! What cells refer to: styles, hyperlinks and grapheme clusters.
//!
//! Entries are found through a small cache and never counted: one that is not found is added once more, which does no
//! harm. When a table is full, the terminal walks its cells and keeps what they use ([`Tables::sweep`]).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, StyleId};
use crate::clusters;
use crate::content_hash::ContentHash;
use crate::style::{Color, Style};

/// Entries of a table before it is swept.
const MAX_STYLES: usize = 1 << 16;
const MAX_CLUSTERS: usize = 1 << 16;
/// Clusters that cells can number.
const MAX_CLUSTER_NUMBERS: usize = 1 << 21;
const MAX_LINKS: usize = 1 << 14;
/// Bytes of links that are kept; with more, text is shown without them.
const MAX_LINK_BYTES: usize = 16 * 1024 * 1024;
/// Slots of the cache.
const CACHE: usize = 512;
/// Slots of the cache of clusters.
const PAIRS: usize = 64;
/// Code points that join the first one of a cluster.
const MAX_JOINED: usize = 15;
/// Tabs that moved nothing, kept with a cell.
const MAX_MARGIN_TABS: usize = 1024;

/// The target of an OSC 8 link.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Link {
    /// The id that the program gave, which joins the parts of one link.
    pub(crate) id: Option<String>,
    pub(crate) uri: String,
}

impl Link {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.uri.len() + self.id.as_ref().map_or(0, String::len)
    }
}

/// A style as cells have it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct CellStyle {
    pub(crate) style: Style,
    pub(crate) link: Option<Arc<Link>>,
}

impl CellStyle {
    /// The style that erased cells have: the background alone.
    pub(crate) fn erased(&self) -> Self {
        Self { style: Style { bg: self.style.bg, ..Style::default() }, link: None }
    }

    /// There is nothing but two colours and attributes, so that the key is the style.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.style.underline_color.is_none() && self.link.is_none()
    }

    /// The colours, [`COLOR_BITS`] each, and the attributes.
    #[inline]
    pub(crate) fn packed(&self) -> u64 {
        let Style { fg, bg, attributes, .. } = self.style;
        let attributes = u64::from(attributes.bits()) << (2 * COLOR_BITS);
        color_key(fg) | color_key(bg) << COLOR_BITS | attributes
    }

    /// A number that a plain style has alone, and that other styles may share.
    #[inline]
    fn key(&self) -> u64 {
        let plain = self.packed();
        if self.is_plain() { plain } else { self.key_with_extras(plain) }
    }

    #[cold]
    fn key_with_extras(&self, plain: u64) -> u64 {
        let mut hash = ContentHash::new();
        hash.add(plain);
        hash.add(self.style.underline_color.map_or(0, |under| 1 << 32 | color_key(under)));
        if let Some(link) = &self.link {
            link.uri.bytes().for_each(|byte| hash.add(u64::from(byte)));
        }
        // No plain style has a foreground of this kind.
        hash.finish() | 3 << 24
    }

    /// A hash that is the same at any time and in any process.
    pub(crate) fn hash(&self) -> u64 {
        let mut hash = ContentHash::new();
        hash.add(self.key());
        hash.finish()
    }
}

/// Bits of a packed colour: the kind (0 default, 1 an index, 2 red, green, blue) above 24 bits of its value.
pub(crate) const COLOR_BITS: u32 = 26;

/// A packed colour.
#[inline]
pub(crate) fn color_key(color: Color) -> u64 {
    match color {
        Color::Default => 0,
        Color::Indexed(index) => 1 << 24 | u64::from(index),
        Color::Rgb(r, g, b) => 2 << 24 | u64::from(r) << 16 | u64::from(g) << 8 | u64::from(b),
    }
}

/// Code points that share a cell.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Cluster {
    text: String,
    /// Code points that joined the first one.
    joined: usize,
    /// Tabs that moved nothing.
    tabs: usize,
    /// The widths of its code points, added up.
    columns: usize,
}

/// The tables of one terminal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tables {
    styles: Vec<CellStyle>,
    clusters: Vec<Cluster>,
    /// Links that were opened since the last sweep.
    links: Vec<Arc<Link>>,
    link_bytes: usize,
    /// Clusters below this number may be in more cells than one.
    shared: usize,
    #[serde(skip)]
    cache: StyleCache,
    #[serde(skip)]
    pairs: PairCache,
}

/// Clusters of two code points that were made before, each in the slot of its code points.
#[derive(Debug)]
struct PairCache(Box<[(u32, char, u32); PAIRS]>);

impl Default for PairCache {
    fn default() -> Self {
        Self(Box::new([(0, '\0', 0); PAIRS]))
    }
}

impl PairCache {
    fn slot(&mut self, base: u32, mark: char) -> &mut (u32, char, u32) {
        let slot = base.wrapping_mul(31).wrapping_add(mark.into()) as usize % PAIRS;
        &mut self.0[slot]
    }
}

/// The keys and numbers of styles that were looked up, each in the slot of its key.
#[derive(Debug)]
struct StyleCache(Box<[(u64, u32); CACHE]>);

impl Default for StyleCache {
    /// The default style's key and number are 0.
    fn default() -> Self {
        Self(Box::new([(0, 0); CACHE]))
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            styles: vec![CellStyle::default()],
            clusters: Vec::new(),
            links: Vec::new(),
            link_bytes: 0,
            shared: 0,
            cache: StyleCache::default(),
            pairs: PairCache::default(),
        }
    }
}

/// Which entries cells still refer to.
pub(crate) struct Used {
    styles: Vec<bool>,
    clusters: Vec<bool>,
}

/// The numbers that the entries have after a sweep.
pub(crate) struct Moved {
    styles: Vec<u32>,
    clusters: Vec<u32>,
}

impl Used {
    pub(crate) fn note(&mut self, cell: Cell) {
        self.styles[cell.style().0 as usize] = true;
        if let Some(cluster) = cell.cluster() {
            self.clusters[cluster as usize] = true;
        }
    }
}

impl Moved {
    pub(crate) fn apply(&self, cell: &mut Cell) {
        *cell = cell.with_style(StyleId(self.styles[cell.style().0 as usize]));
        if let Some(cluster) = cell.cluster() {
            *cell = cell.with_cluster(self.clusters[cluster as usize]);
        }
    }
}

impl Tables {
    /// The number of a style.
    #[inline]
    pub(crate) fn style_id(&mut self, style: &CellStyle) -> StyleId {
        let key = style.key();
        let slot = (key.wrapping_mul(0x517c_c1b7_2722_0a95) >> 32) as usize % CACHE;
        let (known, id) = self.cache.0[slot];
        if known == key && (style.is_plain() || self.styles.get(id as usize) == Some(style)) {
            return StyleId(id);
        }
        let id = self.styles.len() as u32;
        self.cache.0[slot] = (key, id);
        self.styles.push(style.clone());
        StyleId(id)
    }

    pub(crate) fn style(&self, id: StyleId) -> &CellStyle {
        &self.styles[id.0 as usize]
    }

    /// The hash of a style: equal for equal styles, whatever their numbers.
    pub(crate) fn style_hash(&self, id: StyleId) -> u64 {
        self.style(id).hash()
    }

    pub(crate) fn cluster(&self, number: u32) -> &str {
        &self.clusters[number as usize].text
    }

    /// The widths of its code points, added up: none for marks or tabs that wait for a character.
    pub(crate) fn cluster_columns(&self, number: u32) -> usize {
        self.clusters[number as usize].columns
    }

    /// A link to print with; `None` if there is no room for it.
    pub(crate) fn link(&mut self, link: Link) -> Option<Arc<Link>> {
        if let Some(known) = self.links.iter().rev().take(8).find(|known| ***known == link) {
            return Some(Arc::clone(known));
        }
        if self.links.len() >= MAX_LINKS || self.link_bytes + link.bytes() > MAX_LINK_BYTES {
            self.keep_used_links();
        }
        if self.links.len() >= MAX_LINKS || self.link_bytes + link.bytes() > MAX_LINK_BYTES {
            return None;
        }
        self.link_bytes += link.bytes();
        let link = Arc::new(link);
        self.links.push(Arc::clone(&link));
        Some(link)
    }

    fn keep_used_links(&mut self) {
        self.links.retain(|link| Arc::strong_count(link) > 1);
        self.link_bytes = self.links.iter().map(|link| link.bytes()).sum();
    }

    /// The cell with one more code point that takes no room; the same cell once it has as many as are kept.
    pub(crate) fn join(&mut self, cell: Cell, mark: char) -> Cell {
        let Some(number) = cell.cluster() else { return self.join_pair(cell, mark) };
        let Cluster { joined, tabs, .. } = self.clusters[number as usize];
        let is_full = if mark == '\t' { tabs >= MAX_MARGIN_TABS } else { joined >= MAX_JOINED };
        if is_full || self.clusters.len() >= MAX_CLUSTER_NUMBERS {
            cell
        } else {
            self.append(cell, mark)
        }
    }

    /// The first code point that joins a character: text repeats few such pairs.
    fn join_pair(&mut self, cell: Cell, mark: char) -> Cell {
        let (base, joins, known) = *self.pairs.slot(cell.code(), mark);
        // It may have grown since.
        let is_pair = |cluster: &Cluster| cluster.joined == 1 && cluster.tabs == 0;
        if (base, joins) == (cell.code(), mark)
            && mark != '\0'
            && self.clusters.get(known as usize).is_some_and(is_pair)
        {
            self.shared = self.shared.max(known as usize + 1);
            return cell.with_cluster(known);
        }
        if self.clusters.len() >= MAX_CLUSTER_NUMBERS {
            return cell;
        }
        let joined = self.append(cell, mark);
        if let Some(number) = joined.cluster().filter(|_| mark != '\t') {
            *self.pairs.slot(cell.code(), mark) = (cell.code(), mark, number);
        }
        joined
    }

    /// The cell with one more code point.
    pub(crate) fn append(&mut self, cell: Cell, character: char) -> Cell {
        let known = cell.cluster().map(|number| &self.clusters[number as usize]);
        let newest = |number: &u32| {
            let number = *number as usize;
            number + 1 == self.clusters.len() && number >= self.shared
        };
        // The cluster that was made last is this cell's alone.
        let (cell, at) = match cell.cluster().filter(newest) {
            Some(number) => (cell, number as usize),
            None => {
                let cluster = known.cloned().unwrap_or_else(|| {
                    let text: String =
                        cell.character().filter(|c| *c != '\0').into_iter().collect();
                    let columns = clusters::sum_of_widths(&text);
                    Cluster { text, joined: 0, tabs: 0, columns }
                });
                self.clusters.push(cluster);
                (cell.with_cluster(self.clusters.len() as u32 - 1), self.clusters.len() - 1)
            }
        };
        let cluster = &mut self.clusters[at];
        cluster.text.push(character);
        cluster.columns += clusters::char_width(character).unwrap_or(0);
        match character {
            '\t' => cluster.tabs += 1,
            _ => cluster.joined += 1,
        }
        cell
    }

    /// Cells are about to be copied.
    pub(crate) fn share_clusters(&mut self) {
        self.shared = self.clusters.len();
    }

    /// Appends the text of a cell, nothing for one that was not written to.
    pub(crate) fn push_text(&self, cell: Cell, text: &mut String) {
        match cell.cluster() {
            Some(number) => text.push_str(self.cluster(number)),
            None => text.extend(cell.character().filter(|c| *c != '\0')),
        }
    }

    /// The tables are to be swept.
    pub(crate) fn are_full(&self) -> bool {
        self.styles.len() >= MAX_STYLES || self.clusters.len() >= MAX_CLUSTERS
    }

    pub(crate) fn nothing_used(&self) -> Used {
        let mut styles = vec![false; self.styles.len()];
        styles[0] = true;
        Used { styles, clusters: vec![false; self.clusters.len()] }
    }

    /// Forgets what is not used; every cell has to be changed by what is returned, and every style be looked up again.
    pub(crate) fn sweep(&mut self, used: &Used) -> Moved {
        let mut moved =
            Moved { styles: vec![0; used.styles.len()], clusters: vec![0; used.clusters.len()] };
        let keep = |used: &[bool], moved: &mut [u32]| {
            let mut next = 0;
            for (used, moved) in used.iter().zip(moved) {
                *moved = next;
                next += u32::from(*used);
            }
        };
        keep(&used.styles, &mut moved.styles);
        keep(&used.clusters, &mut moved.clusters);
        let mut flags = used.styles.iter();
        self.styles.retain(|_| flags.next().copied().unwrap_or(false));
        let mut flags = used.clusters.iter();
        self.clusters.retain(|_| flags.next().copied().unwrap_or(false));
        self.shared = self.clusters.len();
        self.cache = StyleCache::default();
        self.pairs = PairCache::default();
        self.keep_used_links();
        moved
    }

    /// Bytes that the tables take.
    pub(crate) fn memory(&self) -> usize {
        let clusters = self.clusters.capacity() * (size_of::<Cluster>() + 16);
        self.styles.capacity() * size_of::<CellStyle>() + clusters + self.link_bytes
    }

    /// There is a default style, first.
    pub(crate) fn is_sound(&self) -> bool {
        self.styles.first() == Some(&CellStyle::default())
    }

    /// What the cell refers to exists.
    pub(crate) fn has_entries_of(&self, cell: Cell) -> bool {
        (cell.style().0 as usize) < self.styles.len()
            && cell.cluster().is_none_or(|number| (number as usize) < self.clusters.len())
    }
}
