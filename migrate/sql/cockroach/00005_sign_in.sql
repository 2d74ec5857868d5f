-- +goose Up
-- +goose NO TRANSACTION

-- Which roles which subjects have. They are part of the authentications and their revision.
CREATE TABLE IF NOT EXISTS bindings (
    id          VARCHAR(255) NOT NULL,
    created_rev BIGINT       NOT NULL,
    created_seq INTEGER      NOT NULL,
    body        TEXT         NOT NULL,
    PRIMARY KEY (id)
);

-- Whose the authentications of people and workloads are, by the hash of the subject.
CREATE TABLE IF NOT EXISTS authentication_subjects (
    authentication_id VARCHAR(255) NOT NULL,
    subject_hash      VARCHAR(64)  NOT NULL,
    PRIMARY KEY (authentication_id)
);

CREATE INDEX IF NOT EXISTS authentications_by_subject ON authentication_subjects (subject_hash);

-- What was used and must not be used again before it expires: attempts to sign in, logout
-- tokens and grants.
CREATE TABLE IF NOT EXISTS spent (
    digest     VARCHAR(64) NOT NULL,
    expires_at BIGINT      NOT NULL,
    PRIMARY KEY (digest)
);

CREATE INDEX IF NOT EXISTS spent_by_expiry ON spent (expires_at);

-- Random keys that all instances share. The newest is used; the others are kept for what
-- was made with them.
CREATE TABLE IF NOT EXISTS secrets (
    secret_number BIGINT      NOT NULL,
    value         VARCHAR(64) NOT NULL,
    created_at    BIGINT      NOT NULL,
    PRIMARY KEY (secret_number)
);

-- The addresses that changes of authentications and bindings came from, if they are
-- recorded.
CREATE TABLE IF NOT EXISTS change_addresses (
    revision BIGINT      NOT NULL,
    seq      INTEGER     NOT NULL,
    address  VARCHAR(64) NOT NULL,
    PRIMARY KEY (revision, seq)
);
