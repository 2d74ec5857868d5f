-- +goose Up
-- +goose NO TRANSACTION

-- Which roles which subjects have. They are part of the authentications and their revision.
CREATE TABLE IF NOT EXISTS bindings (
    id          VARBINARY(1020) NOT NULL,
    created_rev BIGINT          NOT NULL,
    created_seq INTEGER         NOT NULL,
    body        LONGTEXT        NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Whose the authentications of people and workloads are, by the hash of the subject.
CREATE TABLE IF NOT EXISTS authentication_subjects (
    authentication_id VARBINARY(1020) NOT NULL,
    subject_hash      VARBINARY(64)   NOT NULL,
    PRIMARY KEY (authentication_id),
    KEY authentications_by_subject (subject_hash)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What was used and must not be used again before it expires: attempts to sign in, logout
-- tokens and grants.
CREATE TABLE IF NOT EXISTS spent (
    digest     VARBINARY(64) NOT NULL,
    expires_at BIGINT        NOT NULL,
    PRIMARY KEY (digest),
    KEY spent_by_expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Random keys that all instances share. The newest is used; the others are kept for what
-- was made with them.
CREATE TABLE IF NOT EXISTS secrets (
    secret_number BIGINT        NOT NULL,
    value         VARBINARY(64) NOT NULL,
    created_at    BIGINT        NOT NULL,
    PRIMARY KEY (secret_number)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The addresses that changes of authentications and bindings came from, if they are
-- recorded.
CREATE TABLE IF NOT EXISTS change_addresses (
    revision BIGINT        NOT NULL,
    seq      INTEGER       NOT NULL,
    address  VARBINARY(64) NOT NULL,
    PRIMARY KEY (revision, seq)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
