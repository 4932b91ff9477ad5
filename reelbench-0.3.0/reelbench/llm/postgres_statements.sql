-- What the database of replies is asked and told, by name (`store.py`). Every lease is by the server's clock.
-- `lease`: seconds that a claim lasts. `silence`: seconds without a pulse after which the server was away. `grace`:
-- seconds after it is back in which no claim lapses. `handing_over`: seconds that a process has to hand a batch over.

-- name: get_reply
SELECT reply.key, model, at, checksum, giver,
    raw, finish, returned, prompt_tokens, completion_tokens, host, reasoning_tokens, cached_tokens, seconds
FROM reelbench.replies AS reply LEFT JOIN reelbench.givers AS givers ON givers.key = reply.key
WHERE reply.key = %(key)s;

-- name: has_reply
SELECT key FROM reelbench.replies WHERE key = %(key)s;

-- name: next_replies
SELECT reply.key, model, at, checksum, giver,
    raw, finish, returned, prompt_tokens, completion_tokens, host, reasoning_tokens, cached_tokens, seconds
FROM reelbench.replies AS reply LEFT JOIN reelbench.givers AS givers ON givers.key = reply.key
WHERE reply.key > %(after)s ORDER BY reply.key LIMIT %(limit)s;

-- name: drop_reply
DELETE FROM reelbench.replies
WHERE key = %(key)s AND at = %(at)s AND checksum IS NOT DISTINCT FROM %(checksum)s::bytea;

-- name: insert_reply
INSERT INTO reelbench.replies (
    key, model, at, checksum,
    raw, finish, returned, prompt_tokens, completion_tokens, host, reasoning_tokens, cached_tokens, seconds)
VALUES (
    %(key)s, %(model)s, %(at)s, %(checksum)s,
    %(raw)s, %(finish)s, %(returned)s, %(prompt_tokens)s, %(completion_tokens)s, %(host)s, %(reasoning_tokens)s,
    %(cached_tokens)s, %(seconds)s)
ON CONFLICT (key) DO NOTHING;

-- name: insert_giver
-- Where an earlier reply stays, so does what is said of who gave it.
INSERT INTO reelbench.givers SELECT %(key)s, %(giver)s
WHERE EXISTS (SELECT 1 FROM reelbench.replies WHERE key = %(key)s AND at = %(at)s)
ON CONFLICT (key) DO UPDATE SET giver = excluded.giver;

-- name: latest_reply
SELECT max(at) FROM reelbench.replies WHERE host = %(host)s;

-- name: count_models
SELECT model, count(*), min(at), max(at) FROM reelbench.replies
WHERE (%(before)s::double precision IS NULL OR at < %(before)s) AND (%(model)s::bytea IS NULL OR model = %(model)s)
GROUP BY model ORDER BY model;

-- name: remove_givers
DELETE FROM reelbench.givers WHERE key IN (
    SELECT key FROM reelbench.replies
    WHERE (%(before)s::double precision IS NULL OR at < %(before)s)
        AND (%(model)s::bytea IS NULL OR model = %(model)s));

-- name: remove_replies
DELETE FROM reelbench.replies
WHERE (%(before)s::double precision IS NULL OR at < %(before)s) AND (%(model)s::bytea IS NULL OR model = %(model)s);

-- name: claim
-- A claim lapses under a server that was there: its owner could renew it. A claim of another owner is not even touched,
-- so that nobody waits for its row.
INSERT INTO reelbench.claims AS claim
SELECT %(key)s, %(owner)s, clock_timestamp() + make_interval(secs => %(lease)s)
WHERE NOT EXISTS (
    SELECT 1 FROM reelbench.claims AS other
    WHERE other.key = %(key)s AND other.owner <> %(owner)s AND NOT (
        other.until <= clock_timestamp() AND EXISTS (
            SELECT FROM reelbench.pulse
            WHERE at > clock_timestamp() - make_interval(secs => %(silence)s)
                AND back <= clock_timestamp() - make_interval(secs => %(grace)s))))
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE claim.owner = excluded.owner OR (
    claim.until <= clock_timestamp() AND EXISTS (
        SELECT FROM reelbench.pulse
        WHERE at > clock_timestamp() - make_interval(secs => %(silence)s)
            AND back <= clock_timestamp() - make_interval(secs => %(grace)s)));

-- name: release_answered
DELETE FROM reelbench.claims WHERE owner = %(owner)s AND key = %(key)s AND (
    EXISTS (SELECT 1 FROM reelbench.replies WHERE key = %(key)s)
    OR EXISTS (SELECT 1 FROM reelbench.batched WHERE key = %(key)s));

-- name: claim_state
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM reelbench.replies WHERE key = %(key)s) THEN 'stored'
    WHEN EXISTS (SELECT 1 FROM reelbench.claims WHERE key = %(key)s AND owner = %(owner)s) THEN 'mine'
    WHEN EXISTS (SELECT 1 FROM reelbench.batched WHERE key = %(key)s) THEN 'batched'
    ELSE 'theirs' END;

-- name: claimed_elsewhere
SELECT key FROM reelbench.claims AS claim
WHERE key = %(key)s AND owner <> %(owner)s AND NOT (
    claim.until <= clock_timestamp() AND EXISTS (
        SELECT FROM reelbench.pulse
        WHERE at > clock_timestamp() - make_interval(secs => %(silence)s)
            AND back <= clock_timestamp() - make_interval(secs => %(grace)s)));

-- name: pulse
UPDATE reelbench.pulse SET at = clock_timestamp(), back = CASE
    WHEN at > clock_timestamp() - make_interval(secs => %(silence)s) THEN back ELSE clock_timestamp() END;

-- name: renew_claims
UPDATE reelbench.claims SET until = clock_timestamp() + make_interval(secs => %(lease)s) WHERE owner = %(owner)s;

-- name: release
DELETE FROM reelbench.claims WHERE key = %(key)s AND owner = %(owner)s;

-- name: release_whoever_claimed
DELETE FROM reelbench.claims WHERE key = %(key)s;

-- name: release_all
DELETE FROM reelbench.claims WHERE owner = %(owner)s;

-- name: batches
SELECT token, id, at, id IS NULL AND owner <> %(owner)s AND until > clock_timestamp() FROM reelbench.batches
WHERE model = %(model)s AND host = %(host)s ORDER BY at;

-- name: batched_keys
SELECT key FROM reelbench.batched JOIN reelbench.batches USING (token)
WHERE model = %(model)s AND host = %(host)s;

-- name: insert_batch
INSERT INTO reelbench.batches
SELECT %(token)s, NULL, %(model)s, %(host)s, extract(epoch FROM clock_timestamp()), %(owner)s,
    clock_timestamp() + make_interval(secs => %(handing_over)s)
WHERE EXISTS (SELECT 1 FROM reelbench.claims WHERE owner = %(token)s);

-- name: move_claims_into_batch
INSERT INTO reelbench.batched SELECT key, owner FROM reelbench.claims WHERE owner = %(token)s;

-- name: keys_of_batch
SELECT key FROM reelbench.batched WHERE token = %(token)s;

-- name: name_batch
UPDATE reelbench.batches SET id = %(id)s WHERE token = %(token)s;

-- name: give_batches_up
UPDATE reelbench.batches SET until = clock_timestamp() WHERE owner = %(owner)s AND id IS NULL;

-- name: is_batched
SELECT key FROM reelbench.batched WHERE key = %(key)s;

-- name: end_request
DELETE FROM reelbench.batched WHERE key = %(key)s;

-- name: end_batch
DELETE FROM reelbench.batches WHERE token = %(token)s;

-- name: end_requests_of_batch
DELETE FROM reelbench.batched WHERE token = %(token)s;

-- name: count_batches
SELECT count(*) FROM reelbench.batches;

-- name: open_budget
INSERT INTO reelbench.budgets VALUES (%(job)s, 0, 0, 0, 0) ON CONFLICT (job) DO NOTHING;

-- name: reserve
-- A call may cost as much as the dearest so far.
UPDATE reelbench.budgets SET calls = calls + 1, reserved = reserved + greatest(dearest, %(estimate)s)
WHERE job = %(job)s
    AND (%(most_calls)s::bigint IS NULL OR calls < %(most_calls)s)
    AND (%(most_usd)s::double precision IS NULL
        OR spent + reserved + greatest(dearest, %(estimate)s) <= %(most_usd)s)
RETURNING greatest(dearest, %(estimate)s);

-- name: settle
UPDATE reelbench.budgets SET
    reserved = reserved - %(reserved)s, calls = calls - %(calls_back)s, spent = spent + %(cost)s,
    dearest = greatest(dearest, %(cost)s)
WHERE job = %(job)s;

-- name: last_day
SELECT day FROM reelbench.shutdowns WHERE model = %(model)s AND host = %(host)s;

-- name: delete_last_day
DELETE FROM reelbench.shutdowns WHERE model = %(model)s AND host = %(host)s;

-- name: insert_last_day
INSERT INTO reelbench.shutdowns VALUES (%(model)s, %(host)s, %(day)s)
ON CONFLICT (model, host) DO UPDATE SET day = excluded.day;

-- name: valid_from
SELECT at FROM reelbench.marks WHERE place = %(place)s;

-- name: set_valid_from
INSERT INTO reelbench.marks VALUES (%(place)s, %(at)s) ON CONFLICT (place) DO UPDATE SET at = excluded.at;

-- name: size
SELECT pg_total_relation_size('reelbench.replies');
