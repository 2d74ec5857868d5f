-- +goose Up
-- +goose NO TRANSACTION

-- The flags that people marked as favorites, by the digest of their subject. They are outside of the
-- revisions of namespaces, and may name flags that no longer exist.
CREATE TABLE IF NOT EXISTS favorites (
    account_hash  VARBINARY(64)   NOT NULL,
    namespace_key VARBINARY(1020) NOT NULL,
    flag_key      VARBINARY(1020) NOT NULL,
    added_at      BIGINT          NOT NULL,
    PRIMARY KEY (account_hash, namespace_key, flag_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
