-- +goose Up

-- The flags that people marked as favorites, by the digest of their subject. They are outside of the
-- revisions of namespaces, and may name flags that no longer exist.
CREATE TABLE favorites (
    account_hash  VARCHAR(64)  NOT NULL,
    namespace_key VARCHAR(255) NOT NULL,
    flag_key      VARCHAR(255) NOT NULL,
    added_at      BIGINT       NOT NULL,
    PRIMARY KEY (account_hash, namespace_key, flag_key)
);
