-- +goose Up
-- +goose NO TRANSACTION

-- Times are microseconds since 1970 in UTC, and bodies are JSON. Rules are enforced in
-- Go: no foreign keys, no computed defaults, no triggers. Keys are bytes, because even a
-- binary collation of this database treats "a" and "a " as equal. A character takes up to
-- four bytes. Each statement commits by itself and must be safe to run again after an
-- interruption, so indexes are declared inside the tables.

-- revision and stamp identify the state of a namespace. A deleted namespace keeps its
-- row, so that its revision never restarts. The list is ordered by created_seq. The key
-- (authentications), which no namespace can have, has the revision of the
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

-- created_rev and created_seq identify the change record of the creation, and the list
-- is ordered by them. changed_rev lets a reload fetch only changed rows.
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

-- stamp is that of the revision. It distinguishes a snapshot from one of a database that
-- has been restored since. body_size limits a response before the bodies are read.
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
