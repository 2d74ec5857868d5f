-- +goose Up
-- +goose NO TRANSACTION

-- Times are microseconds since 1970 in UTC, bodies are JSON. Rules live in Go: no
-- foreign keys, no defaults that compute, no triggers. Keys are bytes: what this
-- database calls a binary collation still takes "a" and "a " for the same. Four
-- bytes make room for any character. Each statement commits by itself and may be
-- run again after an interruption, hence the indexes inside the tables.

-- revision and stamp identify the state of a namespace; a deleted one keeps its
-- row, so that its revision never restarts. created_seq orders the list. The key
-- (authentications), which no namespace can have, holds the revision of the
-- authentications.
CREATE TABLE IF NOT EXISTS namespaces (
    namespace_key VARBINARY(1020) NOT NULL,
    revision      BIGINT          NOT NULL,
    stamp         BIGINT          NOT NULL,
    deleted       INTEGER         NOT NULL,
    created_seq   BIGINT          NOT NULL,
    body          LONGTEXT        NOT NULL,
    PRIMARY KEY (namespace_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- created_rev and created_seq are the change record of the creation and order
-- the list; changed_rev lets a reload fetch only what changed.
CREATE TABLE IF NOT EXISTS flags (
    namespace_key VARBINARY(1020) NOT NULL,
    flag_key      VARBINARY(1020) NOT NULL,
    created_rev   BIGINT          NOT NULL,
    created_seq   INTEGER         NOT NULL,
    changed_rev   BIGINT          NOT NULL,
    body          LONGTEXT        NOT NULL,
    PRIMARY KEY (namespace_key, flag_key),
    KEY flags_by_change (namespace_key, changed_rev)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS segments (
    namespace_key VARBINARY(1020) NOT NULL,
    segment_key   VARBINARY(1020) NOT NULL,
    created_rev   BIGINT          NOT NULL,
    created_seq   INTEGER         NOT NULL,
    changed_rev   BIGINT          NOT NULL,
    body          LONGTEXT        NOT NULL,
    PRIMARY KEY (namespace_key, segment_key),
    KEY segments_by_change (namespace_key, changed_rev)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- stamp is that of the revision, so that a snapshot can be told from one of a
-- database since restored; body_size bounds an answer before it is read.
CREATE TABLE IF NOT EXISTS changes (
    namespace_key VARBINARY(1020) NOT NULL,
    revision      BIGINT          NOT NULL,
    seq           INTEGER         NOT NULL,
    stamp         BIGINT          NOT NULL,
    kind          VARBINARY(32)   NOT NULL,
    object_key    VARBINARY(1020) NOT NULL,
    action        VARBINARY(16)   NOT NULL,
    actor         VARBINARY(1020) NOT NULL,
    actor_name    TEXT            NOT NULL,
    actor_method  VARBINARY(64)   NOT NULL,
    happened_at   BIGINT          NOT NULL,
    request_id    TEXT            NOT NULL,
    body_size     BIGINT          NOT NULL,
    before_body   LONGTEXT,
    after_body    LONGTEXT,
    PRIMARY KEY (namespace_key, revision, seq),
    KEY changes_by_object (namespace_key, object_key, revision, seq),
    KEY changes_by_actor (namespace_key, actor, revision, seq),
    KEY changes_by_time (namespace_key, happened_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS authentications (
    id          VARBINARY(1020) NOT NULL,
    method      INTEGER         NOT NULL,
    token_hash  VARBINARY(1020) NOT NULL,
    expires_at  BIGINT,
    created_rev BIGINT          NOT NULL,
    created_seq INTEGER         NOT NULL,
    body        LONGTEXT        NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY authentications_by_hash (token_hash),
    KEY authentications_by_expiry (method, expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
