"""The page: HTML, CSS, JavaScript and the files for a results dataset."""
