//! Which runner runs a file, where its imports do not say it: the nearest configuration, then the scripts and the
//! dependencies of its package, then what is installed. A later one decides only among those that the ones before it
//! left.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::{Runner, Source};
use super::in_modules;
use crate::error::CodeError;
use crate::tool::{folder_with, text_of};

/// A runner whose functions a file may use without importing them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) runner: Runner,
    /// The module that has its functions.
    module: &'static str,
    /// Files that configure it; `package.json` may have a part for it too.
    pub(super) configurations: &'static [&'static str],
    /// Its program, by version.
    programs: &'static [&'static str],
}

pub(super) const VITEST: Known = Known {
    runner: Runner::Vitest,
    module: "vitest",
    configurations: &[
        "vitest.config.ts",
        "vitest.config.mts",
        "vitest.config.js",
        "vitest.config.mjs",
    ],
    programs: &["vitest/vitest.mjs"],
};
pub(super) const JEST: Known = Known {
    runner: Runner::Jest,
    module: "@jest/globals",
    configurations: &[
        "jest.config.js",
        "jest.config.ts",
        "jest.config.mjs",
        "jest.config.cjs",
        "jest.config.json",
    ],
    programs: &["jest/bin/jest.js"],
};
pub(super) const MOCHA: Known = Known {
    runner: Runner::Mocha,
    module: "mocha",
    configurations: &[
        ".mocharc.js",
        ".mocharc.cjs",
        ".mocharc.mjs",
        ".mocharc.json",
        ".mocharc.jsonc",
        ".mocharc.yaml",
        ".mocharc.yml",
    ],
    programs: &["mocha/bin/mocha.js", "mocha/bin/_mocha"],
};
const ALL: [&Known; 3] = [&VITEST, &JEST, &MOCHA];

/// The runner of a file.
pub(super) fn runner(source: &Source<'_>) -> Result<Runner, CodeError> {
    let imports = |module: &str| {
        ['\'', '"', '`']
            .iter()
            .any(|quote| source.text.contains(&format!("{quote}{module}{quote}")))
    };
    if imports("node:test") {
        return Ok(Runner::NodeTest);
    }
    if let Some(known) = ALL.iter().find(|known| imports(known.module)) {
        return Ok(known.runner);
    }
    let package = package(source);
    let evidence: [&dyn Fn(&Known) -> usize; 4] = [
        &|known| known.nearest_configuration(source, &package),
        &|known| usize::from(known.is_in_scripts(&package)),
        &|known| usize::from(known.is_dependency(&package)),
        &|known| usize::from(known.installed(source).is_some()),
    ];
    let mut left = ALL.to_vec();
    for weight in evidence {
        let most = left.iter().map(|known| weight(known)).max().unwrap_or(0);
        if most > 0 {
            left.retain(|known| weight(known) == most);
        }
        if let [known] = left.as_slice() {
            return Ok(known.runner);
        }
    }
    let file = source.file.display();
    let names: Vec<_> = left.iter().map(|known| known.name()).collect();
    let is_listed = |known: &&Known| known.is_in_scripts(&package) || known.is_dependency(&package);
    let is_any_installed = left.iter().any(|known| known.installed(source).is_some());
    Err(CodeError::DiscoveryFailed(if !is_any_installed && left.iter().any(is_listed) {
        format!("package.json lists {}, but none is installed: run npm install", names.join(", "))
    } else if is_any_installed || left.len() < ALL.len() {
        format!(
            "{file} may be run by {}: name one in the script \"test\" of package.json, or import its \
             functions",
            names.join(" or ")
        )
    } else {
        format!(
            "{file} does not import node:test, and neither its package.json nor node_modules has {}",
            names.join(", ")
        )
    }))
}

/// The `package.json` of a file.
pub(super) fn package(source: &Source<'_>) -> Value {
    let folder = folder_with(source.file, source.workspace, &["package.json"]);
    let text = folder.map(|folder| text_of(&folder.join("package.json"))).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

impl Known {
    fn name(&self) -> &'static str {
        self.runner.name()
    }

    /// How deep the folder of its nearest configuration is; 0 where there is none.
    fn nearest_configuration(&self, source: &Source<'_>, package: &Value) -> usize {
        let depth = |folder: &Path| folder.components().count();
        let of_files = folder_with(source.file, source.workspace, self.configurations).map(depth);
        let of_package = folder_with(source.file, source.workspace, &["package.json"]).map(depth);
        let of_package = of_package.filter(|_| package.get(self.name()).is_some());
        of_files.max(of_package).unwrap_or(0)
    }

    fn is_in_scripts(&self, package: &Value) -> bool {
        let scripts = package["scripts"].as_object().into_iter().flatten();
        let tests = scripts.filter(|(name, _)| name.starts_with("test"));
        let mut words = tests.filter_map(|(_, script)| script.as_str()).flat_map(|script| {
            script.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')))
        });
        words.any(|word| word == self.name())
    }

    fn is_dependency(&self, package: &Value) -> bool {
        let parts = ["dependencies", "devDependencies"];
        parts.iter().any(|part| package[part].get(self.name()).is_some())
    }

    fn installed(&self, source: &Source<'_>) -> Option<PathBuf> {
        self.programs.iter().find_map(|program| in_modules(source.file, program))
    }

    /// Its program.
    pub(super) fn program(&self, source: &Source<'_>) -> Result<PathBuf, CodeError> {
        self.installed(source).ok_or_else(|| {
            let name = self.name();
            CodeError::DiscoveryFailed(format!(
                "{name} is not in node_modules; install it with: npm install --save-dev {name}"
            ))
        })
    }

    /// Where it runs: the folder of its configuration, or else of the package.
    pub(super) fn root(&self, source: &Source<'_>) -> PathBuf {
        folder_with(source.file, source.workspace, self.configurations)
            .or_else(|| folder_with(source.file, source.workspace, &["package.json"]))
            .map_or_else(|| source.project(), Path::to_owned)
    }
}
