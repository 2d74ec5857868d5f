-- +goose Up
-- +goose NO TRANSACTION

-- Webhooks. The private part has the URL, the values of headers and the secrets; change records have only the
-- body. They are part of the authentications and their revision.
CREATE TABLE IF NOT EXISTS webhooks (
    id          VARCHAR(255) COLLATE "C" NOT NULL,
    created_rev BIGINT                   NOT NULL,
    created_seq INTEGER                  NOT NULL,
    body        TEXT COLLATE "C"         NOT NULL,
    private     TEXT COLLATE "C"         NOT NULL,
    PRIMARY KEY (id)
);

-- What is being tried again: how often a webhook has failed in a namespace, since when, and when it is tried
-- next. The part is the sequence of the first record that is to be delivered.
CREATE TABLE IF NOT EXISTS webhook_states (
    webhook_id    VARCHAR(255) COLLATE "C" NOT NULL,
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    part          INTEGER                  NOT NULL,
    attempts      INTEGER                  NOT NULL,
    next_at       BIGINT                   NOT NULL,
    failing_since BIGINT                   NOT NULL,
    PRIMARY KEY (webhook_id, namespace_key)
);

-- The last attempts of each webhook.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
    webhook_id    VARCHAR(255) COLLATE "C" NOT NULL,
    delivery_seq  BIGINT                   NOT NULL,
    namespace_key VARCHAR(255) COLLATE "C" NOT NULL,
    revision      BIGINT                   NOT NULL,
    part          INTEGER                  NOT NULL,
    attempt       INTEGER                  NOT NULL,
    at            BIGINT                   NOT NULL,
    millis        BIGINT                   NOT NULL,
    status        INTEGER                  NOT NULL,
    error         TEXT COLLATE "C"         NOT NULL,
    answer        TEXT COLLATE "C"         NOT NULL,
    PRIMARY KEY (webhook_id, delivery_seq)
);
