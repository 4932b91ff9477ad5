-- What the first versions of this schema did not have.

CREATE TABLE IF NOT EXISTS reelbench.givers (key bytea PRIMARY KEY, giver text NOT NULL);
CREATE TABLE IF NOT EXISTS reelbench.marks (place text PRIMARY KEY, at double precision NOT NULL);
