-- +goose Up

-- Text is compared byte by byte (SQLite's default), times are microseconds since 1970 in
-- UTC, and bodies are JSON. Rules are enforced in Go: no foreign keys, no computed
-- defaults, no triggers.

-- revision and stamp identify the state of a namespace. A deleted namespace keeps its
-- row, so that its revision never restarts. The list is ordered by created_seq. The key
-- (authentications), which no namespace can have, has the revision of the
-- authentications.
CREATE TABLE namespaces (
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    stamp         BIGINT       NOT NULL,
    deleted       INTEGER      NOT NULL,
    created_seq   BIGINT       NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (namespace_key)
);

-- created_rev and created_seq identify the change record of the creation, and the list
-- is ordered by them. changed_rev lets a reload fetch only changed rows.
CREATE TABLE flags (
    namespace_key VARCHAR(255) NOT NULL,
    flag_key      VARCHAR(255) NOT NULL,
    created_rev   BIGINT       NOT NULL,
    created_seq   INTEGER      NOT NULL,
    changed_rev   BIGINT       NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (namespace_key, flag_key)
);

CREATE INDEX flags_by_change ON flags (namespace_key, changed_rev);

CREATE TABLE segments (
    namespace_key VARCHAR(255) NOT NULL,
    segment_key   VARCHAR(255) NOT NULL,
    created_rev   BIGINT       NOT NULL,
    created_seq   INTEGER      NOT NULL,
    changed_rev   BIGINT       NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (namespace_key, segment_key)
);

CREATE INDEX segments_by_change ON segments (namespace_key, changed_rev);

-- stamp is that of the revision. It distinguishes a snapshot from one of a database that
-- has been restored since. body_size limits a response before the bodies are read.
CREATE TABLE changes (
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    seq           INTEGER      NOT NULL,
    stamp         BIGINT       NOT NULL,
    kind          VARCHAR(32)  NOT NULL,
    object_key    VARCHAR(255) NOT NULL,
    action        VARCHAR(16)  NOT NULL,
    actor         VARCHAR(255) NOT NULL,
    actor_name    TEXT         NOT NULL,
    actor_method  VARCHAR(64)  NOT NULL,
    happened_at   BIGINT       NOT NULL,
    request_id    TEXT         NOT NULL,
    body_size     BIGINT       NOT NULL,
    before_body   TEXT,
    after_body    TEXT,
    PRIMARY KEY (namespace_key, revision, seq)
);

CREATE INDEX changes_by_object ON changes (namespace_key, object_key, revision, seq);
CREATE INDEX changes_by_actor ON changes (namespace_key, actor, revision, seq);
CREATE INDEX changes_by_time ON changes (namespace_key, happened_at);

CREATE TABLE authentications (
    id          VARCHAR(255) NOT NULL,
    method      INTEGER      NOT NULL,
    token_hash  VARCHAR(255) NOT NULL,
    expires_at  BIGINT,
    created_rev BIGINT       NOT NULL,
    created_seq INTEGER      NOT NULL,
    body        TEXT         NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX authentications_by_hash ON authentications (token_hash);
CREATE INDEX authentications_by_expiry ON authentications (method, expires_at);
