package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/testcontainers/testcontainers-go"
	testredis "github.com/testcontainers/testcontainers-go/modules/redis"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// serves checks that two instances share queries and writes through Redis, with any kind of
// connection.
func serves(t *testing.T, connection rediscache.Connection) {
	t.Helper()
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	a, _ := openThroughRedis(t, harness.OpenStore(t, database), connection)
	b, source := openThroughRedis(t, harness.OpenStore(t, database), connection)
	notified := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_ = source.Subscribe(ctx, func(key string) {
			select {
			case notified <- key:
			default:
			}
		})
	}()
	select {
	case <-notified: // of the subscription
	case <-time.After(harness.Patience):
		t.Fatalf("no subscription: %v", source.Err())
	}
	end := time.Now().Add(harness.Patience)
	for n := 0; source.Stats().Revisions.Hits < 100; n++ {
		if time.Now().After(end) {
			t.Fatalf("Redis is not used: %+v, %v", source.Stats(), source.Err())
		}
		if n%20 == 0 {
			if _, err := a.Update(t.Context(), "default", service.Write{}, describe(n)); err != nil {
				t.Fatal(err)
			}
		}
		s, _, err := b.Snapshot(t.Context(), "default", service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.Namespace().Description, fmt.Sprint(n-n%20); got != want {
			t.Fatalf("got description %s, want %s", got, want)
		}
	}
	select {
	case key := <-notified:
		if key != "default" {
			t.Errorf("notified of %q, want default", key)
		}
	case <-time.After(harness.Patience):
		t.Error("not notified of a change")
	}
	// A new instance finds the snapshot in Redis.
	if _, _, err := b.Snapshot(t.Context(), "default", service.Demand{}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(harness.Patience); ; {
		late, found := openThroughRedis(t, harness.OpenStore(t, database), connection)
		if _, _, err := late.Snapshot(t.Context(), "default", service.Demand{}); err != nil {
			t.Fatal(err)
		}
		if found.Stats().Snapshots.Hits > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no snapshot in Redis: %+v", found.Stats())
		}
	}
	if s := source.Stats(); s.Errors != 0 {
		t.Logf("%d errors, the last %v", s.Errors, source.Err())
	}
}

func describe(n int) func(context.Context, service.Tx) error {
	return func(ctx context.Context, tx service.Tx) error {
		namespace, err := tx.Namespace(ctx)
		if err != nil {
			return err
		}
		namespace.Description = fmt.Sprint(n)
		return tx.PutNamespace(ctx, namespace)
	}
}

func TestRedisCluster(t *testing.T) {
	bus, err := dbtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s := harness.StartRedis(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-require-full-coverage", "no")
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	if err := client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	serves(t, rediscache.Connection{URL: s.URL, Mode: rediscache.ModeCluster})
}

func TestRedisSentinel(t *testing.T) {
	primary := harness.StartRedis(t)
	sentinel, err := dbtest.Sentinel(t.Context(), primary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sentinel.Close() })
	serves(t, rediscache.Connection{URL: sentinel.URL + "?master_name=main", Mode: rediscache.ModeSentinel})
}

func TestRedisTLS(t *testing.T) {
	dir := harness.OpenDir(t)
	certificate, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	private, public := harness.SelfSigned(t)
	for file, content := range map[string][]byte{certificate: public, key: private} {
		if err := os.WriteFile(file, content, 0o644); err != nil { // #nosec G306 -- Redis reads it as another user
			t.Fatal(err)
		}
	}
	port, err := dbtest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	harness.StartRedis(t, "--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no")
	url := "rediss://127.0.0.1:" + port
	serves(t, rediscache.Connection{URL: url, CAFile: certificate})

	harness.Postgres.Need(t)
	distrusting, source := openThroughRedis(t, harness.OpenStore(t, harness.Postgres.Migrated(t)), rediscache.Connection{URL: url})
	if _, _, err := distrusting.Snapshot(t.Context(), "default", service.Demand{}); err != nil {
		t.Error(err)
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](source.Err()); !ok {
		t.Errorf("got %v, want %v", source.Err(), unknown)
	}
}

// TestRedisContainers covers the supported releases of Redis and Valkey.
func TestRedisContainers(t *testing.T) {
	for _, image := range []string{"redis:8", "valkey:8"} { // from infra/containers/engine.sh
		t.Run(image, func(t *testing.T) {
			url, end, err := harness.Container(t.Context(), "6379/tcp",
				func(ctx context.Context) (testcontainers.Container, error) { return testredis.Run(ctx, image) },
				func(address string) string { return "redis://" + address })
			if err != nil {
				harness.Skip(t, "no %s: %v", image, err)
			}
			serves(t, rediscache.Connection{URL: url})
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
}
