"""Real programs under the recorder: `make test-recorder` runs these, `make test` does not."""
