"""What a benchmark is and where its data lies: specs, sources, normalised rows, media, frames, records."""
