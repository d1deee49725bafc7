# Recipes for people; CI calls the scripts.

# Build and see it drive a real program
demo:
    cargo run --release -p termbridge -- demo

# All tests, with what they need
test:
    scripts/test

# The benchmark: ours against floors, in one run
bench:
    cargo bench -p termbridge-benches --bench engine

# What CI has no time for: fuzzing (seconds per target), the release build's tests, the benchmarks
nightly seconds="120":
    scripts/nightly {{seconds}}

# The book of docs/, in target/book
book:
    scripts/book

# Everything that is generated from the source
generate:
    scripts/generate

# The VS Code extension in a real VS Code; screenshots in target/e2e/shots
e2e-vscode *scenarios:
    scripts/e2e-vscode {{scenarios}}

# Programs and packages of a release, in target/release-files
release *arguments:
    scripts/release {{arguments}}

# What CI runs
ci:
    .ci/run
