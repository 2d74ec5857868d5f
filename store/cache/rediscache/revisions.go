package rediscache

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/guidonhq/guidon"
)

// found is the result of a lookup in Redis.
type found struct {
	heads   map[string]guidon.Revision
	unknown []string // keys to read from the database
	fill    []string // those of unknown to store in Redis afterwards, with the nonce
	nonce   string
}

// lookup looks up the revisions in Redis. If the script returns "fill" for a key, Redis
// has recorded the nonce as that of a reader that is about to query the database.
func (s *Source) lookup(ctx context.Context, keys []string) found {
	f := found{heads: make(map[string]guidon.Revision, len(keys)), unknown: keys}
	if len(keys) == 0 || len(keys) > maxKeys || !s.available(ctx) {
		return f
	}
	if s.foundAll.Load() && !s.clustered.Load() { // in a cluster, commands without a key may go to any node
		heads, err := s.peek(ctx, keys)
		if err == nil && heads != nil {
			f.heads, f.unknown = heads, nil
			s.stats.revisions.hits.Add(uint64(len(heads)))
		}
		if err != nil || heads != nil {
			return f
		}
	}
	f.nonce = rand.Text()
	answers, err := s.runScript(ctx, readScript,
		s.runs(keys, f.nonce, milliseconds(lease), milliseconds(quarantine), milliseconds(stateTTL))...)
	if redis.HasErrorPrefix(err, "CROSSSLOT") { // a cluster of one server, behind a client for a single server
		s.clustered.Store(true)
	}
	if err != nil {
		return f
	}
	f.unknown = nil
	for i, key := range keys {
		text, hit := strings.CutPrefix(answers[i], "=")
		if r, ok := parseRevision(text); hit && ok {
			f.heads[key] = r
			s.stats.revisions.hits.Add(1)
			continue
		}
		s.stats.revisions.misses.Add(1)
		f.unknown = append(f.unknown, key)
		if answers[i] == "fill" || answers[i] == "lost" {
			f.fill = append(f.fill, key)
		}
	}
	s.foundAll.Store(len(f.unknown) == 0)
	return f
}

// runs returns the runs of a script for the states of the keys: one run, or one for
// each key if they are in different slots of a cluster.
func (s *Source) runs(keys []string, args ...any) []run {
	each := len(keys)
	if s.clustered.Load() {
		each = 1
	}
	var runs []run
	for some := range slices.Chunk(keys, each) {
		r := run{make([]string, len(some)), args}
		for i, key := range some {
			r.keys[i] = s.stateKey(key)
		}
		runs = append(runs, r)
	}
	return runs
}

// fill stores in Redis the revisions that the database returned. Redis accepts a revision only if no
// write has been announced since it recorded the nonce. If it had no state of the key,
// it only creates one.
func (s *Source) fill(ctx context.Context, f found, stored map[string]guidon.Revision) {
	var runs []run
	for _, key := range f.fill {
		if r, exists := stored[key]; exists { // a namespace that does not exist leaves nothing behind
			runs = append(runs, run{[]string{s.stateKey(key)}, []any{f.nonce, milliseconds(stateTTL), formatRevision(r)}})
		}
	}
	if len(runs) > 0 {
		_, _ = s.runScript(ctx, fillScript, runs...) // on failure the next reader queries the database, too
	}
}

func formatRevision(r guidon.Revision) string { return fmt.Sprintf("%d:%d", r.Number, r.Stamp) }

func parseRevision(text string) (r guidon.Revision, ok bool) {
	number, stamp, _ := strings.Cut(text, ":")
	var errs [2]error
	r.Number, errs[0] = strconv.ParseInt(number, 10, 64)
	r.Stamp, errs[1] = strconv.ParseInt(stamp, 10, 64)
	return r, errs == [2]error{}
}

// latest holds the last revision found for each key that exists. Load loads that
// revision.
type latest struct {
	mu        sync.Mutex
	revisions map[string]guidon.Revision
}

func (l *latest) record(queried []string, heads map[string]guidon.Revision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revisions == nil {
		l.revisions = map[string]guidon.Revision{}
	}
	for _, key := range queried {
		if r, exists := heads[key]; exists {
			l.revisions[key] = r
		} else {
			delete(l.revisions, key)
		}
	}
}

func (l *latest) of(key string) (guidon.Revision, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.revisions[key]
	return r, known
}

// peek returns the revisions of all the keys, or nil if Redis does not know one of
// them. It finds what lua/read.lua would find, but with plain commands, which take the
// server a third of the time of a script. They need not be atomic: a revision exists
// only while no write is in progress, and the time is read last.
func (s *Source) peek(ctx context.Context, keys []string) (heads map[string]guidon.Revision, err error) {
	states := make([]*redis.SliceCmd, len(keys))
	var info *redis.StringCmd
	var clock *redis.TimeCmd
	err = s.roundTrip(ctx, "HMGET", s.stateKey(keys[0]), func(ctx context.Context) error {
		pipe := s.client.Pipeline()
		for i, key := range keys {
			states[i] = pipe.HMGet(ctx, s.stateKey(key), "life", "since", "asked", "revision")
		}
		info = pipe.Info(ctx, "server")
		clock = pipe.Time(ctx)
		_, err := pipe.Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	life := runID(info.Val())
	heads = make(map[string]guidon.Revision, len(keys))
	for i, key := range keys {
		r, known := revisionIn(states[i].Val(), life, clock.Val())
		if !known {
			return nil, nil
		}
		heads[key] = r
	}
	return heads, nil
}

// runID returns the id of this life of the server, or "" if info does not contain it.
func runID(info string) string {
	_, id, _ := strings.Cut(info, "run_id:")
	id, _, _ = strings.Cut(id, "\r\n")
	return id
}

// revisionIn returns the revision in the fields life, since, asked and revision of a
// state. ok is false unless the revision is known in this life of the server and
// younger than the lease.
func revisionIn(fields []any, life string, now time.Time) (r guidon.Revision, ok bool) {
	var texts [4]string
	for i := range texts {
		if texts[i], ok = fields[i].(string); !ok {
			return r, false
		}
	}
	since, err := strconv.ParseInt(texts[1], 10, 64)
	if err != nil || life == "" || texts[0] != life || since > now.UnixMilli() {
		return r, false
	}
	asked, err := strconv.ParseInt(texts[2], 10, 64)
	if passed := now.UnixMilli() - asked; err != nil || passed < 0 || passed >= milliseconds(lease) {
		return r, false
	}
	return parseRevision(texts[3])
}
