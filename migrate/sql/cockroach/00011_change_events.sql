-- +goose Up
-- +goose NO TRANSACTION

-- What kind of event a change was, so that lists of the changes of all namespaces find events.
-- Records of earlier releases have none until the cleanup adds it.
ALTER TABLE changes ADD COLUMN IF NOT EXISTS event VARCHAR(16) NOT NULL DEFAULT '';

-- They find changes by time: those of an event or an actor in all namespaces, and those of a
-- namespace. The last one replaces changes_by_time.
CREATE INDEX IF NOT EXISTS changes_by_event ON changes (event, happened_at, namespace_key, revision, seq);
CREATE INDEX IF NOT EXISTS changes_by_author ON changes (actor, happened_at, namespace_key, revision, seq, event);
CREATE INDEX IF NOT EXISTS changes_by_moment ON changes (namespace_key, happened_at, revision, seq);
DROP INDEX IF EXISTS changes_by_time;
