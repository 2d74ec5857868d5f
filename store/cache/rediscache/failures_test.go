package rediscache_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// A server that was killed comes back with what it had on disk, and a replica that
// takes its place with what it received. Both are old states.
func TestOldStateIsIgnored(t *testing.T) {
	for name, after := range map[string]func(t *testing.T, first *dbtest.Server) (url string){
		"restarted": func(t *testing.T, first *dbtest.Server) string {
			if err := first.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			return first.URL
		},
		"promoted": func(t *testing.T, first *dbtest.Server) string {
			host, port, _ := strings.Cut(first.Addr, ":")
			second := startRedis(t, "--replicaof", host+" "+port, "--repl-diskless-sync-delay", "0")
			client := redis.NewClient(&redis.Options{Addr: second.Addr})
			defer client.Close()
			for end := time.Now().Add(30 * time.Second); client.Exists(t.Context(), "guidon:revision:a").Val() == 0; {
				if time.Now().After(end) {
					t.Fatal("the replica receives nothing")
				}
			}
			first.Kill()
			if err := client.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
				t.Fatal(err)
			}
			return second.URL
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := startRedis(t, "--appendonly", "yes", "--appendfsync", "always")
			db := newDatabase()
			a := newInstance(t, server.URL, db)
			a.warm(t, "a")
			b := newInstance(t, after(t, server), db)
			// Renew the lease, so that it does not expire first.
			if err := b.client.HSet(t.Context(), "guidon:revision:a", "asked", time.Now().UnixMilli()).Err(); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Update(t.Context(), "a", service.Write{}, nil); err != nil { // without announcing it to that server
				t.Fatal(err)
			}
			for range 2 {
				if head := b.head(t, "a"); head != 2 {
					t.Errorf("revision %d, want 2", head)
				}
			}
		})
	}
}

// A Redis that does not respond costs its timeout once, and no caller after that. A
// write is acknowledged when Redis has forgotten the older revision, also for instances
// that still reach Redis. When Redis responds again, it is used again.
func TestRedisUnavailable(t *testing.T) {
	for name, fault := range map[string]struct {
		begin func(*dbtest.Server)
		end   func(context.Context, *dbtest.Server) error
	}{
		"killed": {(*dbtest.Server).Kill, func(ctx context.Context, s *dbtest.Server) error { return s.Restart(ctx) }},
		"frozen": {(*dbtest.Server).Freeze, func(_ context.Context, s *dbtest.Server) error { s.Thaw(); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			server := startRedis(t)
			db := newDatabase()
			a := newInstanceWith(t, server.URL, db, rediscache.Options{})
			a.warm(t, "a")

			fault.begin(server)
			begun := time.Now()
			since := begun
			db.updating = func() {
				if silent := time.Since(since); silent < time.Second {
					t.Errorf("written after Redis had not responded for %v: it may still return the old revision", silent)
				}
				db.updating = nil
			}
			if head := a.head(t, "a"); head != 1 {
				t.Errorf("revision %d, want 1", head)
			}
			first := time.Since(begun)
			begun = time.Now()
			for range 1000 {
				a.head(t, "a")
			}
			if rest := time.Since(begun); first > time.Second || rest > 500*time.Millisecond {
				t.Errorf("the first query took %v, a thousand more %v", first, rest)
			}
			if a.Err() == nil {
				t.Error("Err() = nil while Redis does not respond")
			}
			for _, bound := range []time.Duration{2500, 1500} { // the second write knows already how long Redis has not responded
				begun = time.Now()
				a.write(t, "a")
				if took := time.Since(begun); took < time.Second || took > bound*time.Millisecond {
					t.Errorf("the write took %v, want from 1s to %v", took, bound*time.Millisecond)
				}
			}

			if err := fault.end(t.Context(), server); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(30 * time.Second); a.Err() != nil; a.head(t, "a") {
				if time.Now().After(end) {
					t.Fatalf("Redis is not used again: %v", a.Err())
				}
			}
			a.warm(t, "a")
			begun = time.Now()
			a.write(t, "a")
			if took := time.Since(begun); took > 500*time.Millisecond {
				t.Errorf("the write took %v while Redis responds", took)
			}
			if head := a.head(t, "a"); head != 4 {
				t.Errorf("revision %d, want 4", head)
			}
		})
	}
}

// An instance that is cut off from Redis writes. Another one, which is not, may return
// the old revision from Redis, but no longer once the write is acknowledged.
func TestWriterCutOff(t *testing.T) {
	db, server, nobody := newDatabase(), startRedis(t), startRedis(t)
	nobody.Kill()
	a, b := newInstance(t, server.URL, db), newInstance(t, nobody.URL, db)
	a.warm(t, "a")
	b.head(t, "a")
	db.updating = func() { // the last moment at which Redis may store the old revision
		a.age(t, "a", "asked", time.Second)
		a.head(t, "a")
	}
	b.write(t, "a")
	if head := a.head(t, "a"); head != 2 {
		t.Errorf("revision %d after a write of 2 was acknowledged", head)
	}
}

// A canceled caller returns immediately, and its cancellation says nothing about Redis.
func TestCallerCancels(t *testing.T) {
	db, server := newDatabase(), startRedis(t)
	a := newInstance(t, server.URL, db)
	a.warm(t, "a")
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := a.Update(ctx, "a", service.Write{}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	if took := time.Since(begun); took > 90*time.Millisecond {
		t.Errorf("took %v", took)
	}
	if db.heads["a"].Number != 1 {
		t.Error("the write of the canceled caller was run")
	}
	if a.Err() != nil {
		t.Errorf("Err() = %v, want nil", a.Err())
	}
}

// If Redis rejects commands, it is no longer queried. The database is used instead, and
// the reason is reported without secrets.
func TestRedisRefuses(t *testing.T) {
	const secret = "s3cr3t"
	for _, tt := range []struct {
		name, user string   // user and password of the URL
		flags      []string // flags of the server
		setup      []any    // a command that is run there
		key        string   // a key that holds a string before
		want       string   // part of the reason
	}{
		{name: "wrong password", user: "default:" + secret, setup: []any{"CONFIG", "SET", "requirepass", "another"}, want: "WRONGPASS"},
		{name: "no password", setup: []any{"CONFIG", "SET", "requirepass", secret}, want: "NOAUTH"},
		{name: "no rights", user: "guidon:" + secret, setup: []any{"ACL", "SETUSER", "guidon", "on", ">" + secret, "+hello", "+ping", "~*"}, want: "NOPERM"},
		{name: "no rights to the keys", user: "guidon:" + secret, setup: []any{"ACL", "SETUSER", "guidon", "on", ">" + secret, "+@all", "~other:*"}, want: "NOPERM"},
		{name: "replica", flags: []string{"--replicaof", "127.0.0.1 1"}, want: "READONLY"},
		{name: "foreign value", key: "guidon:revision:a", want: "WRONGTYPE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := startRedis(t, tt.flags...)
			db := newDatabase()
			url := server.URL
			if tt.user != "" {
				url = strings.Replace(url, "://", "://"+tt.user+"@", 1)
			}
			a := newInstance(t, url, db)
			if tt.key != "" {
				if err := a.client.Set(t.Context(), tt.key, "text", 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			if tt.setup != nil {
				administer(t, server, tt.setup...)
			}
			for want := range int64(2) {
				for range 3 {
					if head := a.head(t, "a"); head != want+1 {
						t.Errorf("revision %d, want %d", head, want+1)
					}
				}
				a.write(t, "a")
			}
			if reason := a.Err(); reason == nil || !strings.Contains(reason.Error(), tt.want) || strings.Contains(reason.Error(), secret) {
				t.Errorf("the reason is %v, want one that contains %s", reason, tt.want)
			}
			if a.Stats().Errors == 0 {
				t.Error("no error is counted")
			}
		})
	}
}

// A user with only the permissions named in the documentation can do everything.
func TestMinimalPermissions(t *testing.T) {
	server := startRedis(t)
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile("(?m)^ACL SETUSER guidon .*>password .*$").FindString(string(text))
	var command []any
	for word := range strings.FieldsSeq(rule) {
		command = append(command, word)
	}
	administer(t, server, command...)
	db := newDatabase()
	a := newInstance(t, strings.Replace(server.URL, "://", "://guidon:password@", 1), db)
	a.head(t, "a")
	admin := newInstance(t, server.URL, db)
	admin.age(t, "a", "since", time.Hour)
	a.head(t, "a")
	for range 3 { // by the script, and without it
		if got := queries(db, func() { a.head(t, "a") }); got != 0 {
			t.Error("Redis is not used")
		}
	}
	keys := make(chan string, 10)
	go func() { _ = a.Subscribe(t.Context(), func(key string) { keys <- key }) }()
	<-keys
	go a.write(t, "a")
	if key := <-keys; key != "a" {
		t.Errorf("notified of %q, want a", key)
	}
	if s := a.Stats(); s.Errors != 0 {
		t.Errorf("%d errors: %v", s.Errors, a.Err())
	}
}

// A Redis without spare memory still returns revisions, which take next to none.
func TestRedisFull(t *testing.T) {
	server := startRedis(t, "--maxmemory-policy", "noeviction")
	db := newDatabase()
	a := newInstance(t, server.URL, db)
	a.warm(t, "a")
	fillMemory(t, a)
	before := a.Stats().Revisions.Hits
	for want := int64(2); want < 5; want++ {
		a.write(t, "a")
		for range 3 {
			if head := a.head(t, "a"); head != want {
				t.Errorf("revision %d after a write of %d", head, want)
			}
		}
	}
	if hits := a.Stats().Revisions.Hits - before; hits < 6 {
		t.Errorf("%d hits in Redis, want 6", hits)
	}
	if err := a.client.Set(t.Context(), "more", "x", 0).Err(); err == nil {
		t.Fatal("Redis has memory to spare")
	}
	if s := a.Stats(); s.Errors != 0 {
		t.Errorf("%d errors: %v", s.Errors, a.Err())
	}
}

// fillMemory leaves Redis no spare memory.
func fillMemory(t *testing.T, i instance) {
	t.Helper()
	if err := i.client.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
}

// administer runs a command as an administrator.
func administer(t *testing.T, s *dbtest.Server, command ...any) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	if err := client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatal(err)
	}
}
