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

-- Finds the deletions after a revision without reading the other records. This database has
-- no partial indexes, and MySQL cannot create an index only if it does not exist.
SET @changes_by_deletion = (SELECT COUNT(*) FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = 'changes' AND index_name = 'changes_by_deletion');
SET @changes_by_deletion = IF(@changes_by_deletion = 0,
    'CREATE INDEX changes_by_deletion ON changes (namespace_key, action, revision, seq)', 'DO 0');
PREPARE changes_by_deletion FROM @changes_by_deletion;
EXECUTE changes_by_deletion;
DEALLOCATE PREPARE changes_by_deletion;
