-- +goose Up
-- +goose NO TRANSACTION

-- The holders of jobs that one process does at a time. A lease only avoids duplicate
-- work, so it is harmless if two processes hold it.
CREATE TABLE IF NOT EXISTS leases (
    lease_name  VARCHAR(255) NOT NULL,
    holder      VARCHAR(255) NOT NULL,
    acquired_at BIGINT       NOT NULL,
    expires_at  BIGINT       NOT NULL,
    PRIMARY KEY (lease_name)
);
