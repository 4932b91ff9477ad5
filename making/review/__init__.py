"""People in the loop: pages on which they rate, mark, tag and answer, and what is made of what they said.

`pages` draws items and writes a page (or one per rater) that works from the disk, `asks` says what each kind of page
asks, `saved` reads what a page saved, `label_studio` goes to that server and back. Each kind of answer is merged in a
module of its own: `ratings`, `spans`, `tags`, `answers`, `scores`; `merging` picks the one that files need.
"""
