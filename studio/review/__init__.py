"""People in the loop: pages on which they rate, mark, tag and answer, and what is made of their marks.

`pages` draws items and writes a page (or one per rater) that works from the disk, `review_files` reads what a page
saved, `label_studio` goes to that server and back. Each kind of page is an object in a module of its own
(`review_kind`): `ratings`, `spans`, `tags`, `answers`, `scores`, `nodes`; `kinds` has them by name.
"""
