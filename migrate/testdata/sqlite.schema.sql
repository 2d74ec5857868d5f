CREATE TABLE authentication_subjects (
    authentication_id VARCHAR(255) NOT NULL,
    subject_hash      VARCHAR(64)  NOT NULL,
    PRIMARY KEY (authentication_id)
);

CREATE INDEX authentications_by_subject ON authentication_subjects (subject_hash);

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

CREATE INDEX authentications_by_expiry ON authentications (method, expires_at);

CREATE UNIQUE INDEX authentications_by_hash ON authentications (token_hash);

CREATE TABLE bindings (
    id          VARCHAR(255) NOT NULL,
    created_rev BIGINT       NOT NULL,
    created_seq INTEGER      NOT NULL,
    body        TEXT         NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE change_addresses (
    revision BIGINT      NOT NULL,
    seq      INTEGER     NOT NULL,
    address  VARCHAR(64) NOT NULL,
    PRIMARY KEY (revision, seq)
);

CREATE TABLE change_cursors (
    reader_name   VARCHAR(255) NOT NULL,
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    seq           INTEGER      NOT NULL,
    stamp         BIGINT       NOT NULL,
    updated_at    BIGINT       NOT NULL,
    PRIMARY KEY (reader_name, namespace_key)
);

CREATE TABLE change_deletions (
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    seq           INTEGER      NOT NULL,
    created_rev   BIGINT       NOT NULL,
    created_seq   INTEGER      NOT NULL,
    PRIMARY KEY (namespace_key, revision, seq)
);

CREATE TABLE change_horizons (
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    happened_at   BIGINT       NOT NULL,
    PRIMARY KEY (namespace_key)
);

CREATE TABLE change_notes (
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    message       TEXT         NOT NULL,
    reason        VARCHAR(32)  NOT NULL,
    reason_body   TEXT,
    PRIMARY KEY (namespace_key, revision)
);

CREATE INDEX change_notes_by_reason ON change_notes (namespace_key, reason, revision);

CREATE TABLE change_readers (
    reader_name VARCHAR(255) NOT NULL,
    created_at  BIGINT       NOT NULL,
    PRIMARY KEY (reader_name)
);

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
    after_body    TEXT, event VARCHAR(16) NOT NULL DEFAULT '',
    PRIMARY KEY (namespace_key, revision, seq)
);

CREATE INDEX changes_by_actor ON changes (namespace_key, actor, revision, seq);

CREATE INDEX changes_by_author ON changes (actor, happened_at, namespace_key, revision, seq, event);

CREATE INDEX changes_by_deletion ON changes (namespace_key, revision, seq) WHERE action = 'delete';

CREATE INDEX changes_by_event ON changes (event, happened_at, namespace_key, revision, seq);

CREATE INDEX changes_by_moment ON changes (namespace_key, happened_at, revision, seq);

CREATE INDEX changes_by_object ON changes (namespace_key, object_key, revision, seq);

CREATE TABLE evaluation_flags (
    namespace_key VARCHAR(255) NOT NULL,
    flag_key      VARCHAR(255) NOT NULL,
    first_at      BIGINT       NOT NULL,
    last_at       BIGINT       NOT NULL,
    PRIMARY KEY (namespace_key, flag_key)
);

CREATE TABLE evaluation_marks (
    mark_name VARCHAR(64) NOT NULL,
    at        BIGINT      NOT NULL,
    PRIMARY KEY (mark_name)
);

CREATE TABLE evaluation_minutes (
    namespace_key VARCHAR(255) NOT NULL,
    minute        BIGINT       NOT NULL,
    part          INTEGER      NOT NULL,
    reporter      VARCHAR(255) NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (namespace_key, minute, part, reporter)
);

CREATE INDEX evaluation_minutes_by_minute ON evaluation_minutes (minute, namespace_key, part);

CREATE TABLE evaluation_series (
    unit          VARCHAR(1)   NOT NULL,
    start_at      BIGINT       NOT NULL,
    namespace_key VARCHAR(255) NOT NULL,
    flag_key      VARCHAR(255) NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (unit, start_at, namespace_key, flag_key)
);

CREATE TABLE favorites (
    account_hash  VARCHAR(64)  NOT NULL,
    namespace_key VARCHAR(255) NOT NULL,
    flag_key      VARCHAR(255) NOT NULL,
    added_at      BIGINT       NOT NULL,
    PRIMARY KEY (account_hash, namespace_key, flag_key)
);

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

CREATE TABLE leases (
    lease_name  VARCHAR(255) NOT NULL,
    holder      VARCHAR(255) NOT NULL,
    acquired_at BIGINT       NOT NULL,
    expires_at  BIGINT       NOT NULL,
    PRIMARY KEY (lease_name)
);

CREATE TABLE namespaces (
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    stamp         BIGINT       NOT NULL,
    deleted       INTEGER      NOT NULL,
    created_seq   BIGINT       NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (namespace_key)
);

CREATE TABLE schema_steps (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        version_id INTEGER NOT NULL,
        is_applied INTEGER NOT NULL,
        tstamp TIMESTAMP DEFAULT (datetime('now'))
    );

CREATE TABLE secrets (
    secret_number BIGINT      NOT NULL,
    value         VARCHAR(64) NOT NULL,
    created_at    BIGINT      NOT NULL,
    PRIMARY KEY (secret_number)
);

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

CREATE TABLE spent (
    digest     VARCHAR(64) NOT NULL,
    expires_at BIGINT      NOT NULL,
    PRIMARY KEY (digest)
);

CREATE INDEX spent_by_expiry ON spent (expires_at);

CREATE TABLE webhook_deliveries (
    webhook_id    VARCHAR(255) NOT NULL,
    delivery_seq  BIGINT       NOT NULL,
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    part          INTEGER      NOT NULL,
    attempt       INTEGER      NOT NULL,
    at            BIGINT       NOT NULL,
    millis        BIGINT       NOT NULL,
    status        INTEGER      NOT NULL,
    error         TEXT         NOT NULL,
    answer        TEXT         NOT NULL,
    PRIMARY KEY (webhook_id, delivery_seq)
);

CREATE TABLE webhook_states (
    webhook_id    VARCHAR(255) NOT NULL,
    namespace_key VARCHAR(255) NOT NULL,
    part          INTEGER      NOT NULL,
    attempts      INTEGER      NOT NULL,
    next_at       BIGINT       NOT NULL,
    failing_since BIGINT       NOT NULL,
    PRIMARY KEY (webhook_id, namespace_key)
);

CREATE TABLE webhooks (
    id          VARCHAR(255) NOT NULL,
    created_rev BIGINT       NOT NULL,
    created_seq INTEGER      NOT NULL,
    body        TEXT         NOT NULL,
    private     TEXT         NOT NULL,
    PRIMARY KEY (id)
);

