-- +goose Up
-- +goose NO TRANSACTION

-- What kind of event a change was, so that lists of the changes of all namespaces find events.
-- Records of earlier releases have none until the cleanup adds it.
-- The indexes find changes by time: those of an event or an actor in all namespaces, and those of
-- a namespace. The last one replaces changes_by_time. All of this is one statement, which has an
-- effect as a whole or not at all.
SET @change_events = (SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'changes' AND column_name = 'event');
SET @change_events = IF(@change_events = 0,
    'ALTER TABLE changes ADD COLUMN event VARBINARY(16) NOT NULL DEFAULT \'\',
        ADD INDEX changes_by_event (event, happened_at, namespace_key, revision, seq),
        ADD INDEX changes_by_author (actor, happened_at, namespace_key, revision, seq, event),
        ADD INDEX changes_by_moment (namespace_key, happened_at, revision, seq),
        DROP INDEX changes_by_time', 'DO 0');
PREPARE change_events FROM @change_events;
EXECUTE change_events;
DEALLOCATE PREPARE change_events;
