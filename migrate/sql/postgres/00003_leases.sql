-- +goose Up
-- +goose NO TRANSACTION

-- Who does a job that one process does at a time. A lease saves doing it twice;
-- nothing goes wrong when it is held twice.
CREATE TABLE IF NOT EXISTS leases (
    lease_name  VARCHAR(255) COLLATE "C" NOT NULL,
    holder      VARCHAR(255) COLLATE "C" NOT NULL,
    acquired_at BIGINT                   NOT NULL,
    expires_at  BIGINT                   NOT NULL,
    PRIMARY KEY (lease_name)
);
