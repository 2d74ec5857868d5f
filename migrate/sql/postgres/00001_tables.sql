-- +goose Up
-- +goose NO TRANSACTION

-- Text is compared byte by byte, times are microseconds since 1970 in UTC, bodies
-- are JSON. Rules live in Go: no foreign keys, no defaults that compute, no
-- triggers. Not in a transaction, and so written to be run again after it was
-- interrupted: some of these databases commit each statement by itself, others do
-- not like a change of the schema and one of data in one transaction.

-- revision and stamp identify the state of a namespace; a deleted one keeps its
-- row, so that its revision never restarts. created_seq orders the list. The key
-- (authentications), which no namespace can have, holds the revision of the
-- authentications.
CREATE TABLE IF NOT EXISTS namespaces (
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    revision      BIGINT                   NOT NULL,
    stamp         BIGINT                   NOT NULL,
    deleted       INTEGER                  NOT NULL,
    created_seq   BIGINT                   NOT NULL,
    body          TEXT COLLATE "C"         NOT NULL,
    PRIMARY KEY (namespace_key)
);

-- created_rev and created_seq are the change record of the creation and order
-- the list; changed_rev lets a reload fetch only what changed.
CREATE TABLE IF NOT EXISTS flags (
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    flag_key      VARCHAR(255) COLLATE "C" NOT NULL,
    created_rev   BIGINT                   NOT NULL,
    created_seq   INTEGER                  NOT NULL,
    changed_rev   BIGINT                   NOT NULL,
    body          TEXT COLLATE "C"         NOT NULL,
    PRIMARY KEY (namespace_key, flag_key)
);

CREATE INDEX IF NOT EXISTS flags_by_change ON flags (namespace_key, changed_rev);

CREATE TABLE IF NOT EXISTS segments (
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    segment_key   VARCHAR(255) COLLATE "C" NOT NULL,
    created_rev   BIGINT                   NOT NULL,
    created_seq   INTEGER                  NOT NULL,
    changed_rev   BIGINT                   NOT NULL,
    body          TEXT COLLATE "C"         NOT NULL,
    PRIMARY KEY (namespace_key, segment_key)
);

CREATE INDEX IF NOT EXISTS segments_by_change ON segments (namespace_key, changed_rev);

-- stamp is that of the revision, so that a snapshot can be told from one of a
-- database since restored; body_size bounds an answer before it is read.
CREATE TABLE IF NOT EXISTS changes (
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    revision      BIGINT                   NOT NULL,
    seq           INTEGER                  NOT NULL,
    stamp         BIGINT                   NOT NULL,
    kind          VARCHAR(32) COLLATE "C"  NOT NULL,
    object_key    VARCHAR(255) COLLATE "C" NOT NULL,
    action        VARCHAR(16) COLLATE "C"  NOT NULL,
    actor         VARCHAR(255) COLLATE "C" NOT NULL,
    actor_name    TEXT COLLATE "C"         NOT NULL,
    actor_method  VARCHAR(64) COLLATE "C"  NOT NULL,
    happened_at   BIGINT                   NOT NULL,
    request_id    TEXT COLLATE "C"         NOT NULL,
    body_size     BIGINT                   NOT NULL,
    before_body   TEXT COLLATE "C",
    after_body    TEXT COLLATE "C",
    PRIMARY KEY (namespace_key, revision, seq)
);

CREATE INDEX IF NOT EXISTS changes_by_object ON changes (namespace_key, object_key, revision, seq);
CREATE INDEX IF NOT EXISTS changes_by_actor ON changes (namespace_key, actor, revision, seq);
CREATE INDEX IF NOT EXISTS changes_by_time ON changes (namespace_key, happened_at);

CREATE TABLE IF NOT EXISTS authentications (
    id          VARCHAR(255) COLLATE "C" NOT NULL,
    method      INTEGER                  NOT NULL,
    token_hash  VARCHAR(255) COLLATE "C" NOT NULL,
    expires_at  BIGINT,
    created_rev BIGINT                   NOT NULL,
    created_seq INTEGER                  NOT NULL,
    body        TEXT COLLATE "C"         NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX IF NOT EXISTS authentications_by_hash ON authentications (token_hash);
CREATE INDEX IF NOT EXISTS authentications_by_expiry ON authentications (method, expires_at);
