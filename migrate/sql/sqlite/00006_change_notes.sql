-- +goose Up

-- Why the changes of a revision were made: the message of the caller, and what kind of
-- write it was, with its source as JSON. A revision with neither has no row. reason is a
-- column of its own, so that changes can be listed by it.
CREATE TABLE change_notes (
    namespace_key VARCHAR(255) NOT NULL,
    revision      BIGINT       NOT NULL,
    message       TEXT         NOT NULL,
    reason        VARCHAR(32)  NOT NULL,
    reason_body   TEXT,
    PRIMARY KEY (namespace_key, revision)
);

CREATE INDEX change_notes_by_reason ON change_notes (namespace_key, reason, revision);
