-- +goose Up
-- +goose NO TRANSACTION

-- How often clients evaluated flags, as instances wrote it: one row for each namespace and minute, and
-- each reporter, which is random for each process and row. The body is JSON, or starts with z: if it is
-- compressed. Of many flags there are 16 parts, by a hash of the flag's key; part 0 has all.
CREATE TABLE IF NOT EXISTS evaluation_minutes (
    namespace_key VARBINARY(1020) NOT NULL,
    minute        BIGINT          NOT NULL,
    part          INTEGER         NOT NULL,
    reporter      VARBINARY(1020) NOT NULL,
    body          LONGTEXT        NOT NULL,
    PRIMARY KEY (namespace_key, minute, part, reporter),
    KEY evaluation_minutes_by_minute (minute, namespace_key, part)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The same by hour (unit h, a row for each day) and by day (unit d, a row for each month). The key * stands
-- for the namespace as a whole.
CREATE TABLE IF NOT EXISTS evaluation_series (
    unit          VARBINARY(1)    NOT NULL,
    start_at      BIGINT          NOT NULL,
    namespace_key VARBINARY(1020) NOT NULL,
    flag_key      VARBINARY(1020) NOT NULL,
    body          LONGTEXT        NOT NULL,
    PRIMARY KEY (unit, start_at, namespace_key, flag_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- When a flag was evaluated first and last, as far as hours have been computed.
CREATE TABLE IF NOT EXISTS evaluation_flags (
    namespace_key VARBINARY(1020) NOT NULL,
    flag_key      VARBINARY(1020) NOT NULL,
    first_at      BIGINT          NOT NULL,
    last_at       BIGINT          NOT NULL,
    PRIMARY KEY (namespace_key, flag_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Since when evaluations have been counted, and until when hours and days are computed.
CREATE TABLE IF NOT EXISTS evaluation_marks (
    mark_name VARBINARY(64) NOT NULL,
    at        BIGINT        NOT NULL,
    PRIMARY KEY (mark_name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
