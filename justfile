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

# What CI runs
ci:
    .ci/run
