package store

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service/count"
)

var _ count.Store = (*DB)(nil)

// rememberAdded is for how long a call of AddMinutes whose answer was lost may be repeated.
const rememberAdded = 30 * 24 * time.Hour

// AddMinutes implements [count.Store].
func (d *DB) AddMinutes(ctx context.Context, rows []count.Minute, name, earlier string) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if err := s.spend(ctx, digestOf(name), time.Now().Add(rememberAdded)); errors.Is(err, guidon.InvalidArgument) {
			return errNothingStored // it is stored
		} else if err != nil {
			return err
		}
		if err := s.later(ctx, `DELETE FROM spent WHERE digest = ?`, digestOf(earlier)); err != nil {
			return err
		}
		return s.insertMinutes(ctx, rows)
	})
}

// AddReport implements [count.Store].
func (d *DB) AddReport(ctx context.Context, rows []count.Minute) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		for i := range rows {
			r, found := &rows[i], 0
			const query = `SELECT 1 FROM evaluation_minutes WHERE namespace_key = ? AND minute = ? AND part = ? AND reporter = ?`
			if _, err := s.row(ctx, query, []any{r.Namespace, r.At.Unix(), r.Part, r.Reporter}, &found); err != nil {
				return err
			}
			if found > 0 {
				return guidon.Errorf(guidon.Limited, "too many reports of this reporter")
			}
		}
		return s.insertMinutes(ctx, rows)
	})
}

func (s *session) deleteMinute(ctx context.Context, m *count.Minute) error {
	return s.later(ctx, `DELETE FROM evaluation_minutes WHERE namespace_key = ? AND minute = ? AND part = ? AND reporter = ?`,
		m.Namespace, m.At.Unix(), m.Part, m.Reporter)
}

func (s *session) insertMinutes(ctx context.Context, rows []count.Minute) error {
	insert := newInsert(s, "evaluation_minutes", []string{"namespace_key", "minute", "part", "reporter", "body"})
	for i := range rows {
		r := &rows[i]
		body, err := encodeCounts(r.Counts)
		if err != nil {
			return err
		}
		insert.Add(ctx, len(body), r.Namespace, r.At.Unix(), r.Part, r.Reporter, body)
	}
	return insert.Flush(ctx)
}

// Minutes implements [count.Store].
func (d *DB) Minutes(
	ctx context.Context, namespace string, parts []int, from, to time.Time, keep func(count.Counts) count.Counts,
) ([]count.Minute, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]count.Minute, error) {
		query, args := ` WHERE namespace_key = ? AND minute >= ? AND minute < ?`, []any{namespace, from.Unix(), to.Unix()}
		if len(parts) > 0 {
			query += ` AND part IN ` + in(&args, parts)
		}
		return s.minutes(ctx, query, args, keep)
	})
}

func (s *session) minutes(ctx context.Context, clauses string, args []any, keep func(count.Counts) count.Counts) ([]count.Minute, error) {
	query := `SELECT namespace_key, minute, part, reporter, body FROM evaluation_minutes` + clauses + ` ORDER BY minute, part, reporter`
	return collect(ctx, s, query, args, func(rows *sql.Rows) (m count.Minute, err error) {
		minute, body := int64(0), ""
		if err := rows.Scan(&m.Namespace, &minute, &m.Part, &m.Reporter, &body); err != nil {
			return m, err
		}
		m.At = unix(minute)
		m.Counts, err = decodeCounts(body)
		m.Counts = keep(m.Counts)
		return m, err
	})
}

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// in returns a list of placeholders, and appends the values to the arguments.
func in[T any](args *[]any, values []T) string {
	for _, v := range values {
		*args = append(*args, v)
	}
	return "(" + strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + ")"
}

// FirstMinute implements [count.Store].
func (d *DB) FirstMinute(ctx context.Context, from time.Time) (time.Time, error) {
	return d.firstTime(ctx, `SELECT minute FROM evaluation_minutes WHERE minute >= ? ORDER BY minute LIMIT 1`, from.Unix())
}

// FirstHours implements [count.Store].
func (d *DB) FirstHours(ctx context.Context, from time.Time) (time.Time, error) {
	return d.firstTime(ctx, `SELECT start_at FROM evaluation_series WHERE unit = ? AND start_at >= ? ORDER BY start_at LIMIT 1`,
		count.Hours.Name, from.Unix())
}

func (d *DB) firstTime(ctx context.Context, query string, args ...any) (time.Time, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) (time.Time, error) {
		var seconds int64
		found, err := s.row(ctx, query, args, &seconds)
		if err != nil || !found {
			return time.Time{}, err
		}
		return unix(seconds), nil
	})
}

// MinuteParts implements [count.Store].
func (d *DB) MinuteParts(ctx context.Context, from, to time.Time) (map[string][]int, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) (map[string][]int, error) {
		all := map[string][]int{}
		const query = `SELECT DISTINCT namespace_key, part FROM evaluation_minutes WHERE minute >= ? AND minute < ? ORDER BY namespace_key, part`
		return all, s.rows(ctx, query, []any{from.Unix(), to.Unix()}, func(rows *sql.Rows) error {
			namespace, part := "", 0
			err := rows.Scan(&namespace, &part)
			all[namespace] = append(all[namespace], part)
			return err
		})
	})
}

// Mergeable implements [count.Store].
func (d *DB) Mergeable(ctx context.Context, from, to time.Time, limit int) ([]count.Minute, error) {
	const query = `SELECT DISTINCT namespace_key, minute FROM (SELECT namespace_key, minute FROM evaluation_minutes
		WHERE minute >= ? AND minute < ? GROUP BY minute, namespace_key, part HAVING COUNT(*) > 1) several LIMIT ?`
	return readRows(ctx, d, query, []any{from.Unix(), to.Unix(), limit}, func(rows *sql.Rows) (m count.Minute, err error) {
		var minute int64
		err = rows.Scan(&m.Namespace, &minute)
		m.At = unix(minute)
		return m, err
	})
}

// MergeMinute implements [count.Store].
func (d *DB) MergeMinute(ctx context.Context, namespace string, at time.Time, merge func([]count.Minute) []count.Minute) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if err := s.lock(ctx, lockEvaluations); err != nil {
			return err
		}
		rows, err := s.minutes(ctx, ` WHERE namespace_key = ? AND minute = ?`, []any{namespace, at.Unix()},
			func(c count.Counts) count.Counts { return c })
		if err != nil {
			return err
		}
		for i := range rows {
			if err := s.deleteMinute(ctx, &rows[i]); err != nil {
				return err
			}
		}
		return s.insertMinutes(ctx, merge(rows))
	})
}

// lockEvaluations is the lock of roll-ups.
const lockEvaluations = "evaluations of a roll-up"

// Series implements [count.Store].
func (d *DB) Series(ctx context.Context, u *count.Unit, namespace string, starts []time.Time, keys []string) ([]count.Row, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]count.Row, error) {
		return s.series(ctx, u, namespace, starts, keys)
	})
}

func (s *session) series(ctx context.Context, u *count.Unit, namespace string, starts []time.Time, keys []string) ([]count.Row, error) {
	args := []any{u.Name}
	query := ` WHERE unit = ? AND start_at IN ` + in(&args, lists.Map(starts, time.Time.Unix))
	args = append(args, namespace)
	query += ` AND namespace_key = ? AND flag_key IN ` + in(&args, keys)
	return s.seriesRows(ctx, query, args)
}

func (s *session) seriesRows(ctx context.Context, clauses string, args []any) ([]count.Row, error) {
	return collect(ctx, s, `SELECT flag_key, start_at, body FROM evaluation_series`+clauses, args, func(rows *sql.Rows) (r count.Row, err error) {
		start, body := int64(0), ""
		if err := rows.Scan(&r.Key, &start, &body); err != nil {
			return r, err
		}
		r.Start = unix(start)
		r.Slots, err = decodeCounts(body)
		return r, err
	})
}

// SeriesNamespaces implements [count.Store].
func (d *DB) SeriesNamespaces(ctx context.Context, u *count.Unit, start time.Time) ([]string, error) {
	const query = `SELECT DISTINCT namespace_key FROM evaluation_series WHERE unit = ? AND start_at = ?`
	return readRows(ctx, d, query, []any{u.Name, start.Unix()}, scanText)
}

// SeriesAfter implements [count.Store].
func (d *DB) SeriesAfter(ctx context.Context, u *count.Unit, namespace string, start time.Time, key string, limit int) ([]count.Row, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]count.Row, error) {
		return s.seriesRows(ctx, ` WHERE unit = ? AND start_at = ? AND namespace_key = ? AND flag_key > ? ORDER BY flag_key LIMIT ?`,
			[]any{u.Name, start.Unix(), namespace, key, limit})
	})
}

// PutSlot implements [count.Store].
func (d *DB) PutSlot(ctx context.Context, u *count.Unit, namespace string, at time.Time, slot count.Slot) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if err := s.lock(ctx, lockEvaluations); err != nil {
			return err
		}
		if err := s.putSlot(ctx, u, namespace, at, slot.Counts); err != nil {
			return err
		}
		return s.putTimes(ctx, namespace, slot.Times)
	})
}

func (s *session) putSlot(ctx context.Context, u *count.Unit, namespace string, at time.Time, counts count.Counts) error {
	start, name := u.Row(at)
	keys := slices.Sorted(maps.Keys(counts))
	rows, err := s.series(ctx, u, namespace, []time.Time{start}, keys)
	if err != nil {
		return err
	}
	slots := map[string]count.Counts{}
	for _, row := range rows {
		slots[row.Key] = row.Slots
	}
	args := []any{u.Name, start.Unix(), namespace}
	err = s.later(ctx, `DELETE FROM evaluation_series WHERE unit = ? AND start_at = ? AND namespace_key = ? AND flag_key IN `+in(&args, keys), args...)
	insert := newInsert(s, "evaluation_series", []string{"unit", "start_at", "namespace_key", "flag_key", "body"})
	for _, key := range keys {
		if slots[key] == nil {
			slots[key] = count.Counts{}
		}
		slots[key][name] = counts[key]
		body, encodeErr := encodeCounts(slots[key])
		if err = errors.Join(err, encodeErr); err != nil {
			return err
		}
		insert.Add(ctx, len(body), u.Name, start.Unix(), namespace, key, body)
	}
	return insert.Flush(ctx)
}

func (s *session) putTimes(ctx context.Context, namespace string, times map[string]count.Times) error {
	if len(times) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(times))
	stored, err := s.times(ctx, namespace, keys)
	if err != nil {
		return err
	}
	args := []any{namespace}
	if err := s.later(ctx, `DELETE FROM evaluation_flags WHERE namespace_key = ? AND flag_key IN `+in(&args, keys), args...); err != nil {
		return err
	}
	insert := newInsert(s, "evaluation_flags", []string{"namespace_key", "flag_key", "first_at", "last_at"})
	for _, key := range keys {
		t := times[key]
		if old, found := stored[key]; found {
			t = t.With(old.First).With(old.Last)
		}
		insert.Add(ctx, 0, namespace, key, t.First.Unix(), t.Last.Unix())
	}
	return insert.Flush(ctx)
}

// Times implements [count.Store].
func (d *DB) Times(ctx context.Context, namespace string, keys []string) (map[string]count.Times, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) (map[string]count.Times, error) {
		return s.times(ctx, namespace, keys)
	})
}

func (s *session) times(ctx context.Context, namespace string, keys []string) (map[string]count.Times, error) {
	query, args := `SELECT flag_key, first_at, last_at FROM evaluation_flags WHERE namespace_key = ?`, []any{namespace}
	if len(keys) > 0 {
		query += ` AND flag_key IN ` + in(&args, keys)
	}
	all := map[string]count.Times{}
	return all, s.rows(ctx, query, args, func(rows *sql.Rows) error {
		var key string
		var first, last int64
		err := rows.Scan(&key, &first, &last)
		all[key] = count.Times{First: unix(first), Last: unix(last)}
		return err
	})
}

// Marks implements [count.Store].
func (d *DB) Marks(ctx context.Context) (map[string]time.Time, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) (map[string]time.Time, error) {
		all := map[string]time.Time{}
		return all, s.rows(ctx, `SELECT mark_name, at FROM evaluation_marks`, nil, func(rows *sql.Rows) error {
			name, at := "", int64(0)
			err := rows.Scan(&name, &at)
			all[name] = unix(at)
			return err
		})
	})
}

// SetMark implements [count.Store].
func (d *DB) SetMark(ctx context.Context, name string, at time.Time) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if err := s.lock(ctx, lockEvaluations); err != nil {
			return err
		}
		if err := s.later(ctx, `DELETE FROM evaluation_marks WHERE mark_name = ?`, name); err != nil {
			return err
		}
		return s.later(ctx, `INSERT INTO evaluation_marks (mark_name, at) VALUES (?, ?)`, name, at.Unix())
	})
}

// PruneMinutes implements [count.Store].
func (d *DB) PruneMinutes(ctx context.Context, before time.Time, limit int) (int, error) {
	return d.prune(ctx, "evaluation_minutes", []string{"namespace_key", "minute", "part", "reporter"}, `minute < ?`, limit, before.Unix())
}

// PruneSeries implements [count.Store].
func (d *DB) PruneSeries(ctx context.Context, u *count.Unit, before time.Time, limit int) (int, error) {
	return d.prune(ctx, "evaluation_series", []string{"unit", "start_at", "namespace_key", "flag_key"}, `unit = ? AND start_at < ?`,
		limit, u.Name, before.Unix())
}

// PruneTimes implements [count.Store].
func (d *DB) PruneTimes(ctx context.Context, before time.Time, limit int) (int, error) {
	return d.prune(ctx, "evaluation_flags", []string{"namespace_key", "flag_key"}, `last_at < ?`, limit, before.Unix())
}

// prune deletes at most limit rows of a table that meet a condition, one by one, by the columns of the primary
// key: not every database limits a deletion.
func (d *DB) prune(ctx context.Context, table string, key []string, condition string, limit int, args ...any) (deleted int, err error) {
	err = d.write(ctx, func(ctx context.Context, s *session) error {
		query := `SELECT ` + strings.Join(key, ", ") + ` FROM ` + table + ` WHERE ` + condition + ` LIMIT ?`
		keys, err := collect(ctx, s, query, append(slices.Clone(args), limit), func(rows *sql.Rows) ([]any, error) {
			values, dest := make([]any, len(key)), make([]any, len(key))
			for i := range values {
				dest[i] = &values[i]
			}
			return values, rows.Scan(dest...)
		})
		for _, values := range keys {
			if err == nil {
				err = s.later(ctx, `DELETE FROM `+table+` WHERE `+strings.Join(key, " = ? AND ")+` = ?`, values...)
			}
		}
		deleted = len(keys)
		return err
	})
	return deleted, err
}

// Counts are compressed from a size on, and then begin with a mark.
const (
	compressCounts = 4 << 10
	countsMark     = "z:"
	maxCounts      = 64 << 20 // of decompressed counts
)

func encodeCounts(c count.Counts) (string, error) {
	text, err := json.Marshal(c)
	if err != nil || len(text) < compressCounts {
		return string(text), err
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return "", err
	}
	_, _ = w.Write(text) // into memory, where nothing fails
	if err := w.Close(); err != nil {
		return "", err
	}
	return countsMark + base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

func decodeCounts(body string) (counts count.Counts, err error) {
	text := []byte(body)
	if compressed, ok := strings.CutPrefix(body, countsMark); ok {
		r := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(compressed)))
		if text, err = io.ReadAll(io.LimitReader(r, maxCounts)); err != nil {
			return nil, fmt.Errorf("stored counts: %w", err)
		}
	}
	if err := json.Unmarshal(text, &counts); err != nil {
		return nil, fmt.Errorf("stored counts: %w", err)
	}
	return counts, nil
}
