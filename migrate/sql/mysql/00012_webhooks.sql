-- +goose Up
-- +goose NO TRANSACTION

-- Webhooks. The private part has the URL, the values of headers and the secrets; change records have only the
-- body. They are part of the authentications and their revision.
CREATE TABLE IF NOT EXISTS webhooks (
    id          VARBINARY(1020) NOT NULL,
    created_rev BIGINT          NOT NULL,
    created_seq INTEGER         NOT NULL,
    body        LONGTEXT        NOT NULL,
    private     LONGTEXT        NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What is being tried again: how often a webhook has failed in a namespace, since when, and when it is tried
-- next. The part is the sequence of the first record that is to be delivered.
CREATE TABLE IF NOT EXISTS webhook_states (
    webhook_id    VARBINARY(1020) NOT NULL,
    namespace_key VARBINARY(1020) NOT NULL,
    part          INTEGER         NOT NULL,
    attempts      INTEGER         NOT NULL,
    next_at       BIGINT          NOT NULL,
    failing_since BIGINT          NOT NULL,
    PRIMARY KEY (webhook_id, namespace_key)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The last attempts of each webhook.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
    webhook_id    VARBINARY(1020) NOT NULL,
    delivery_seq  BIGINT          NOT NULL,
    namespace_key VARBINARY(1020) NOT NULL,
    revision      BIGINT          NOT NULL,
    part          INTEGER         NOT NULL,
    attempt       INTEGER         NOT NULL,
    at            BIGINT          NOT NULL,
    millis        BIGINT          NOT NULL,
    status        INTEGER         NOT NULL,
    error         LONGTEXT        NOT NULL,
    answer        LONGTEXT        NOT NULL,
    PRIMARY KEY (webhook_id, delivery_seq)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
