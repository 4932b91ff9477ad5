-- The tables of a database of replies.

CREATE SCHEMA IF NOT EXISTS reelbench;
CREATE TABLE reelbench.version (version integer NOT NULL);
INSERT INTO reelbench.version VALUES (1);
CREATE TABLE reelbench.replies (
    key bytea PRIMARY KEY, model bytea NOT NULL, at double precision NOT NULL, checksum bytea NOT NULL,
    raw bytea, finish bytea, returned bytea, prompt_tokens bigint NOT NULL, completion_tokens bigint NOT NULL,
    host bytea NOT NULL, reasoning_tokens bigint, cached_tokens bigint, seconds double precision);
CREATE TABLE reelbench.claims (key bytea PRIMARY KEY, owner text NOT NULL, until timestamptz NOT NULL);
CREATE TABLE reelbench.pulse (at timestamptz NOT NULL, back timestamptz NOT NULL);
INSERT INTO reelbench.pulse VALUES (clock_timestamp(), 'epoch');
CREATE TABLE reelbench.batches (
    token text PRIMARY KEY, id bytea, model bytea NOT NULL, host bytea NOT NULL, at double precision NOT NULL,
    owner text NOT NULL, until timestamptz NOT NULL);
CREATE TABLE reelbench.batched (key bytea PRIMARY KEY, token text NOT NULL);
CREATE INDEX ON reelbench.batched (token);
CREATE TABLE reelbench.budgets (
    job bytea PRIMARY KEY, calls bigint NOT NULL DEFAULT 0, reserved double precision NOT NULL DEFAULT 0,
    spent double precision NOT NULL DEFAULT 0, dearest double precision NOT NULL DEFAULT 0);
CREATE TABLE reelbench.shutdowns (
    model bytea NOT NULL, host bytea NOT NULL, day text NOT NULL, PRIMARY KEY (model, host));
CREATE TABLE reelbench.givers (key bytea PRIMARY KEY, giver text NOT NULL);
CREATE TABLE reelbench.marks (place text PRIMARY KEY, at double precision NOT NULL);
