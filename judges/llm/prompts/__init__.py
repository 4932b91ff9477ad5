"""The judges' prompts, in our own words: a system message per criterion, and one user message per benchmark."""
