-- +goose Up
-- +goose NO TRANSACTION

-- Where deleted flags and segments were in lists: the positions of their creation. With
-- them an earlier state has its objects in the right order. A deletion by a release that did
-- not write this table has no row.
CREATE TABLE IF NOT EXISTS change_deletions (
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    revision      BIGINT                   NOT NULL,
    seq           INTEGER                  NOT NULL,
    created_rev   BIGINT                   NOT NULL,
    created_seq   INTEGER                  NOT NULL,
    PRIMARY KEY (namespace_key, revision, seq)
);

-- The oldest state of a namespace that can still be computed: the newest revision of which
-- the cleanup has deleted a change record, and the time of that record. A namespace without
-- a row has all its records.
CREATE TABLE IF NOT EXISTS change_horizons (
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    revision      BIGINT                   NOT NULL,
    happened_at   BIGINT                   NOT NULL,
    PRIMARY KEY (namespace_key)
);

-- Finds the deletions after a revision without reading the other records.
CREATE INDEX IF NOT EXISTS changes_by_deletion ON changes (namespace_key, revision, seq) WHERE action = 'delete';
