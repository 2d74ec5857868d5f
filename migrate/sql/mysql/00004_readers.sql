-- +goose Up
-- +goose NO TRANSACTION

-- The readers of the change log, by name. No record is deleted before all of them have
-- passed it.
CREATE TABLE IF NOT EXISTS change_readers (
    reader_name VARBINARY(1020) NOT NULL,
    created_at  BIGINT          NOT NULL,
    PRIMARY KEY (reader_name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The record that a reader has passed last in a namespace. A reader has passed nothing in a
-- namespace without a row. stamp is that of the revision: a cursor counts only if the log
-- has a record with both, which is not the case if only the log was restored from a backup.
CREATE TABLE IF NOT EXISTS change_cursors (
    reader_name   VARBINARY(1020) NOT NULL,
    namespace_key VARBINARY(1020) NOT NULL,
    revision      BIGINT          NOT NULL,
    seq           INTEGER         NOT NULL,
    stamp         BIGINT          NOT NULL,
    updated_at    BIGINT          NOT NULL,
    PRIMARY KEY (reader_name, namespace_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
