-- +goose Up
-- +goose NO TRANSACTION

-- Where deleted flags and segments were in lists: the positions of their creation. With
-- them an earlier state has its objects in the right order. A deletion by a release that did
-- not write this table has no row.
CREATE TABLE IF NOT EXISTS change_deletions (
    namespace_key VARBINARY(1020) NOT NULL,
    revision      BIGINT          NOT NULL,
    seq           INTEGER         NOT NULL,
    created_rev   BIGINT          NOT NULL,
    created_seq   INTEGER         NOT NULL,
    PRIMARY KEY (namespace_key, revision, seq)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The oldest state of a namespace that can still be computed: the newest revision of which
-- the cleanup has deleted a change record, and the time of that record. A namespace without
-- a row has all its records.
CREATE TABLE IF NOT EXISTS change_horizons (
    namespace_key VARBINARY(1020) NOT NULL,
    revision      BIGINT          NOT NULL,
    happened_at   BIGINT          NOT NULL,
    PRIMARY KEY (namespace_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Records that earlier releases have deleted are not known, but leave gaps: revisions
-- without records, numbers that are missing in a revision, objects that are not created
-- first. Then nothing before this step can be computed with certainty.
INSERT INTO change_horizons (namespace_key, revision, happened_at)
SELECT n.namespace_key, n.revision, COALESCE((SELECT MAX(m.happened_at) FROM changes m WHERE m.namespace_key = n.namespace_key AND m.revision = n.revision), 0)
FROM namespaces n
WHERE NOT EXISTS (SELECT 1 FROM change_horizons o WHERE o.namespace_key = n.namespace_key)
    AND (n.revision > (SELECT COUNT(DISTINCT r.revision) FROM changes r WHERE r.namespace_key = n.namespace_key)
        OR EXISTS (SELECT 1 FROM changes s WHERE s.namespace_key = n.namespace_key AND s.seq > 0
            AND NOT EXISTS (SELECT 1 FROM changes q WHERE q.namespace_key = s.namespace_key AND q.revision = s.revision AND q.seq = s.seq - 1))
        OR EXISTS (SELECT 1 FROM changes c WHERE c.namespace_key = n.namespace_key AND c.action <> 'create'
            AND NOT EXISTS (SELECT 1 FROM changes p WHERE p.namespace_key = c.namespace_key AND p.object_key = c.object_key AND p.kind = c.kind
                AND (p.revision < c.revision OR p.revision = c.revision AND p.seq < c.seq))));
