-- What the file of replies is asked and told, by name (`store.py`). `:now` is the time at which a statement runs, and
-- `:lease` the seconds that a claim lasts.

-- name: get_reply
SELECT reply.key, model, at, checksum, giver,
    raw, finish, returned, prompt_tokens, completion_tokens, host, reasoning_tokens, cached_tokens, seconds
FROM replies AS reply LEFT JOIN givers USING (key)
WHERE reply.key = :key;

-- name: has_reply
SELECT key FROM replies WHERE key = :key;

-- name: next_replies
SELECT reply.key, model, at, checksum, giver,
    raw, finish, returned, prompt_tokens, completion_tokens, host, reasoning_tokens, cached_tokens, seconds
FROM replies AS reply LEFT JOIN givers USING (key)
WHERE reply.key > :after ORDER BY reply.key LIMIT :limit;

-- name: replies_between
SELECT key, model, at, checksum, NULL,
    raw, finish, returned, prompt_tokens, completion_tokens, host, reasoning_tokens, cached_tokens, seconds
FROM replies WHERE key >= :first AND key < :end;

-- name: drop_reply
DELETE FROM replies WHERE key = :key AND at = :at AND checksum IS :checksum;

-- name: insert_reply
INSERT INTO replies (
    key, model, at, checksum,
    raw, finish, returned, prompt_tokens, completion_tokens, host, reasoning_tokens, cached_tokens, seconds)
VALUES (
    :key, :model, :at, :checksum,
    :raw, :finish, :returned, :prompt_tokens, :completion_tokens, :host, :reasoning_tokens, :cached_tokens, :seconds)
ON CONFLICT (key) DO NOTHING;

-- name: insert_giver
-- Where an earlier reply stays, so does what is said of who gave it.
INSERT INTO givers SELECT :key, :giver WHERE EXISTS (SELECT 1 FROM replies WHERE key = :key AND at = :at)
ON CONFLICT (key) DO UPDATE SET giver = excluded.giver;

-- name: count_models
SELECT model, count(*), min(at), max(at) FROM replies
WHERE (:before IS NULL OR at < :before) AND (:model IS NULL OR model = :model)
GROUP BY model ORDER BY model;

-- name: latest_reply
SELECT max(at) FROM replies WHERE host = :host;

-- name: remove_givers
DELETE FROM givers WHERE key IN (
    SELECT key FROM replies WHERE (:before IS NULL OR at < :before) AND (:model IS NULL OR model = :model));

-- name: remove_replies
DELETE FROM replies WHERE (:before IS NULL OR at < :before) AND (:model IS NULL OR model = :model);

-- name: vacuum
VACUUM;

-- name: claim
-- A lease from the future (the clock was set back) would never lapse, so it counts for nothing.
INSERT INTO claims AS claim VALUES (:key, :owner, :now + :lease)
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE claim.owner = excluded.owner OR claim.until <= :now OR claim.until > :now + :lease + 1;

-- name: release_answered
DELETE FROM claims WHERE owner = :owner AND key = :key AND (
    EXISTS (SELECT 1 FROM replies WHERE key = :key) OR EXISTS (SELECT 1 FROM batched WHERE key = :key));

-- name: claim_state
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM replies WHERE key = :key) THEN 'stored'
    WHEN EXISTS (SELECT 1 FROM claims WHERE key = :key AND owner = :owner) THEN 'mine'
    WHEN EXISTS (SELECT 1 FROM batched WHERE key = :key) THEN 'batched'
    ELSE 'theirs' END;

-- name: claimed_elsewhere
SELECT key FROM claims
WHERE key = :key AND owner <> :owner AND :now < until AND until <= :now + :lease + 1;

-- name: renew_claims
UPDATE claims SET until = :now + :lease WHERE owner = :owner;

-- name: release
DELETE FROM claims WHERE key = :key AND owner = :owner;

-- name: release_whoever_claimed
DELETE FROM claims WHERE key = :key;

-- name: release_all
DELETE FROM claims WHERE owner = :owner;

-- name: batches
SELECT token, id, at, pid FROM batches WHERE model = :model AND host = :host ORDER BY at;

-- name: batched_keys
SELECT key FROM batched JOIN batches USING (token) WHERE model = :model AND host = :host;

-- name: insert_batch
INSERT INTO batches (token, id, model, host, at, pid) SELECT :token, NULL, :model, :host, :now, :pid
WHERE EXISTS (SELECT 1 FROM claims WHERE owner = :token);

-- name: move_claims_into_batch
INSERT INTO batched SELECT key, owner FROM claims WHERE owner = :token;

-- name: keys_of_batch
SELECT key FROM batched WHERE token = :token;

-- name: name_batch
UPDATE batches SET id = :id WHERE token = :token;

-- name: is_batched
SELECT key FROM batched WHERE key = :key;

-- name: end_request
DELETE FROM batched WHERE key = :key;

-- name: end_batch
DELETE FROM batches WHERE token = :token;

-- name: end_requests_of_batch
DELETE FROM batched WHERE token = :token;

-- name: count_batches
SELECT count(*) FROM batches;

-- name: open_budget
INSERT INTO budgets VALUES (:job, 0, 0, 0, 0) ON CONFLICT (job) DO NOTHING;

-- name: reserve
-- A call may cost as much as the dearest so far.
UPDATE budgets SET calls = calls + 1, reserved = reserved + max(dearest, :estimate)
WHERE job = :job
    AND (:most_calls IS NULL OR calls < :most_calls)
    AND (:most_usd IS NULL OR spent + reserved + max(dearest, :estimate) <= :most_usd)
RETURNING max(dearest, :estimate);

-- name: settle
UPDATE budgets SET
    reserved = reserved - :reserved, calls = calls - :calls_back, spent = spent + :cost, dearest = max(dearest, :cost)
WHERE job = :job;

-- name: last_day
SELECT day FROM shutdowns WHERE model = :model AND host = :host;

-- name: delete_last_day
DELETE FROM shutdowns WHERE model = :model AND host = :host;

-- name: insert_last_day
INSERT INTO shutdowns VALUES (:model, :host, :day) ON CONFLICT (model, host) DO UPDATE SET day = excluded.day;

-- name: valid_from
SELECT at FROM marks WHERE place = :place;

-- name: set_valid_from
INSERT INTO marks VALUES (:place, :at) ON CONFLICT (place) DO UPDATE SET at = excluded.at;
