package migrate

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"time"
)

// lockTable holds the one row that is the lock.
const lockTable = "schema_lock"

// rowLock is a lock that works on every database and through every connection
// pooler: a row that names the holder and counts its heartbeats. Nobody compares
// clocks: whoever waits takes the lock over when it has seen no beat for patience
// by its own clock, so that a holder that was killed holds up nobody for longer.
//
// A holder that was only frozen may wake up beside its successor. That is why
// steps can be run again, and why a step can be recorded only once.
type rowLock struct {
	db       *sql.DB
	dialect  dialect
	holder   string        // a random text, different for each
	interval time.Duration // between two beats
	timeout  time.Duration // many beats
}

var errLockLost = errors.New("the lock for migrating was taken over by another process, since this one had not shown itself for too long")

func lockRow(ctx context.Context, db *sql.DB, d dialect) (context.Context, func() error, error) {
	l := &rowLock{db: db, dialect: d, holder: rand.Text(), interval: time.Second, timeout: 15 * time.Second}
	return l.hold(ctx)
}

// hold waits for the lock and keeps it until release. The context it returns
// ends, with errLockLost as its cause, when the lock is lost.
func (l *rowLock) hold(ctx context.Context) (held context.Context, release func() error, err error) {
	if err := l.retry(ctx, l.prepare); err != nil {
		return nil, nil, err
	}
	if err := l.acquire(ctx); err != nil {
		return nil, nil, err
	}
	held, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.renew(held, cancel)
	}()
	return held, func() error {
		lost := context.Cause(held)
		cancel(nil)
		<-ended
		if errors.Is(lost, errLockLost) {
			return errLockLost
		}
		return l.unlock(context.WithoutCancel(ctx))
	}, nil
}

// prepare creates the table and the row. Others may be doing the same, and some
// databases then answer "exists already" even to IF NOT EXISTS: the next attempt
// finds what they made.
func (l *rowLock) prepare(ctx context.Context) error {
	names, err := l.dialect.listTables(ctx, l.db)
	if err != nil {
		return err
	}
	if !slices.Contains(names, lockTable) {
		_, err := l.db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+lockTable+` (
    lock_name VARCHAR(64) NOT NULL,
    holder    VARCHAR(64) NOT NULL,
    beats     BIGINT      NOT NULL,
    PRIMARY KEY (lock_name)
)`)
		if err != nil {
			return err
		}
	}
	if _, err = l.read(ctx); errors.Is(err, sql.ErrNoRows) {
		_, err = l.db.ExecContext(ctx, `INSERT INTO `+lockTable+` (lock_name, holder, beats) VALUES ('schema', '', 0)`)
	}
	return err
}

// lockState is what the row says.
type lockState struct {
	holder string // "" is nobody
	beats  int64
}

func (l *rowLock) read(ctx context.Context) (s lockState, err error) {
	err = l.db.QueryRowContext(ctx, `SELECT holder, beats FROM `+lockTable+` WHERE lock_name = 'schema'`).Scan(&s.holder, &s.beats)
	return s, err
}

// replace makes the state another one, if it is still what it was. Both holders
// are texts of ours, hence no placeholders.
func (l *rowLock) replace(ctx context.Context, was, is lockState) (done bool, err error) {
	result, err := l.db.ExecContext(ctx, fmt.Sprintf(
		`UPDATE `+lockTable+` SET holder = '%s', beats = %d WHERE lock_name = 'schema' AND holder = '%s' AND beats = %d`,
		is.holder, is.beats, was.holder, was.beats)) // #nosec G201 -- letters and numbers
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// acquire waits until the lock is free, or its holder gone, and takes it.
func (l *rowLock) acquire(ctx context.Context) error {
	var seen lockState
	since := time.Now()
	for {
		var taken bool
		err := l.retry(ctx, func(ctx context.Context) error {
			now, err := l.read(ctx)
			if err != nil {
				return err
			}
			if now != seen {
				seen, since = now, time.Now()
			}
			if now.holder != "" && now.holder != l.holder && time.Since(since) < l.timeout {
				return nil
			}
			taken, err = l.replace(ctx, now, lockState{l.holder, now.beats + 1})
			return err
		})
		if err != nil || taken {
			return err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// renew shows that the holder is alive until ctx ends, and ends it by lose when
// others have the lock, or may have.
func (l *rowLock) renew(ctx context.Context, cancel context.CancelCauseFunc) {
	last := time.Now()
	ticker := time.NewTicker(l.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, err := l.read(ctx)
		if err == nil && now.holder == l.holder {
			_, err = l.replace(ctx, now, lockState{l.holder, now.beats + 1})
		}
		switch {
		case err == nil && now.holder != l.holder, time.Since(last) > l.timeout:
			cancel(errLockLost)
			return
		case err == nil:
			last = time.Now()
		}
	}
}

// unlock frees the lock at once, so that nobody has to wait out its patience.
func (l *rowLock) unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return l.retry(ctx, func(ctx context.Context) error {
		now, err := l.read(ctx)
		if err != nil || now.holder != l.holder {
			return err
		}
		_, err = l.replace(ctx, now, lockState{"", now.beats + 1})
		return err
	})
}

// retry calls attempt again when it fails, a few times: those who start at
// once collide, and what a collision looks like depends on the database.
func (l *rowLock) retry(ctx context.Context, attempt func(ctx context.Context) error) error {
	var err error
	for range 10 {
		if err = attempt(ctx); err == nil || ctx.Err() != nil {
			return err
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
	return err
}

// pause waits about as long as d, each time differently, so that those who
// collided do not meet again.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + mathrand.N(d)) // #nosec G404 -- jitter, not a secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
