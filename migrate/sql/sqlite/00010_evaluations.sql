-- +goose Up

-- How often clients evaluated flags, as instances wrote it: one row for each namespace and minute, and
-- each reporter, which is random for each process and row. The body is JSON, or starts with z: if it is
-- compressed. Of many flags there are 16 parts, by a hash of the flag's key; part 0 has all.
CREATE TABLE evaluation_minutes (
    namespace_key VARCHAR(255) NOT NULL,
    minute        BIGINT       NOT NULL,
    part          INTEGER      NOT NULL,
    reporter      VARCHAR(255) NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (namespace_key, minute, part, reporter)
);

-- Finds the minutes of all namespaces that are over, and those that are kept no longer.
CREATE INDEX evaluation_minutes_by_minute ON evaluation_minutes (minute, namespace_key, part);

-- The same by hour (unit h, a row for each day) and by day (unit d, a row for each month). The key * stands
-- for the namespace as a whole.
CREATE TABLE evaluation_series (
    unit          VARCHAR(1)   NOT NULL,
    start_at      BIGINT       NOT NULL,
    namespace_key VARCHAR(255) NOT NULL,
    flag_key      VARCHAR(255) NOT NULL,
    body          TEXT         NOT NULL,
    PRIMARY KEY (unit, start_at, namespace_key, flag_key)
);

-- When a flag was evaluated first and last, as far as hours have been computed.
CREATE TABLE evaluation_flags (
    namespace_key VARCHAR(255) NOT NULL,
    flag_key      VARCHAR(255) NOT NULL,
    first_at      BIGINT       NOT NULL,
    last_at       BIGINT       NOT NULL,
    PRIMARY KEY (namespace_key, flag_key)
);

-- Since when evaluations have been counted, and until when hours and days are computed.
CREATE TABLE evaluation_marks (
    mark_name VARCHAR(64) NOT NULL,
    at        BIGINT      NOT NULL,
    PRIMARY KEY (mark_name)
);
