package store

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/guidonhq/guidon/service"
)

var _ service.EvaluationStore = (*DB)(nil)

// AddEvaluations implements [service.EvaluationStore].
func (d *DB) AddEvaluations(ctx context.Context, rows []service.EvaluationMinute) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		insert := newInsert(s, "evaluation_minutes", []string{"namespace_key", "minute", "part", "reporter", "body"})
		for i := range rows {
			r := &rows[i]
			body, err := encodeCounts(r.Counts)
			if err != nil {
				return err
			}
			if err := insert.add(ctx, len(body), r.Namespace, r.Minute.Unix(), r.Part, r.Reporter, body); err != nil {
				return err
			}
		}
		return insert.flush(ctx)
	})
}

// EachEvaluations implements [service.EvaluationStore].
func (d *DB) EachEvaluations(
	ctx context.Context, namespace string, parts []int, from, to time.Time, fn func(*service.EvaluationMinute) error,
) error {
	query := `SELECT minute, part, reporter, body FROM evaluation_minutes WHERE namespace_key = ? AND minute >= ? AND minute < ?`
	args := []any{namespace, from.Unix(), to.Unix()}
	if len(parts) > 0 {
		query += ` AND part IN (` + strings.TrimSuffix(strings.Repeat("?, ", len(parts)), ", ") + `)`
		for _, part := range parts {
			args = append(args, part)
		}
	}
	return d.query(ctx, query+` ORDER BY minute, part, reporter`, args, func(rows *sql.Rows) error {
		row, minute, body := &service.EvaluationMinute{Namespace: namespace}, int64(0), ""
		err := rows.Scan(&minute, &row.Part, &row.Reporter, &body)
		if err == nil {
			row.Minute = time.Unix(minute, 0).UTC()
			row.Counts, err = decodeCounts(body)
		}
		if err != nil {
			return err
		}
		return fn(row)
	})
}

// Counts are compressed from a size on, and then begin with a mark.
const (
	compressCounts = 4 << 10
	countsMark     = "z:"
	maxCounts      = 64 << 20 // of decompressed counts
)

func encodeCounts(c service.Counts) (string, error) {
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

func decodeCounts(body string) (counts service.Counts, err error) {
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
