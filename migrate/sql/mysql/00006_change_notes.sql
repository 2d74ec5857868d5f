-- +goose Up
-- +goose NO TRANSACTION

-- Why the changes of a revision were made: the message of the caller, and what kind of
-- write it was, with its source as JSON. A revision with neither has no row. reason is a
-- column of its own, so that changes can be listed by it.
CREATE TABLE IF NOT EXISTS change_notes (
    namespace_key VARBINARY(1020) NOT NULL,
    revision      BIGINT          NOT NULL,
    message       TEXT            NOT NULL,
    reason        VARBINARY(32)   NOT NULL,
    reason_body   TEXT,
    PRIMARY KEY (namespace_key, revision),
    KEY change_notes_by_reason (namespace_key, reason, revision)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
