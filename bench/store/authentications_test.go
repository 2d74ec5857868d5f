package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// manyAuthentications is 10,000 sessions of people and as many tokens of pods.
const manyAuthentications = 20_000

// BenchmarkLoadAuthentications loads many authentications from a database server:
// completely, as at a start, and after one has been created since an earlier load, as
// every instance does after a sign-in.
func BenchmarkLoadAuthentications(b *testing.B) {
	eachDurable(b, func(b *testing.B, s *harness.DatabaseServer) {
		database := s.Migrated(b)
		db := harness.OpenStore(b, database)
		for created := 0; created < manyAuthentications; created += 1000 {
			putAuthentications(b, db, created, 1000)
		}
		b.Run("full", func(b *testing.B) {
			for b.Loop() {
				if n := len(mustLoadAuthentications(b, db, nil).All()); n != manyAuthentications {
					b.Fatalf("got %d authentications", n)
				}
			}
		})
		b.Run("after_one_change", func(b *testing.B) {
			held := mustLoadAuthentications(b, db, nil)
			putAuthentications(b, db, manyAuthentications, 1)
			for b.Loop() {
				if mustLoadAuthentications(b, db, held) == held {
					b.Fatal("nothing changed")
				}
			}
			if s.Private != nil && s.IsPostgres() {
				proxy, through := dbtest.NewProxy(b, database)
				mustLoadAuthentications(b, harness.OpenStore(b, through), held)
				b.ReportMetric(float64(proxy.Rows()), "rows/op")
			}
		})
	})
}

func mustLoadAuthentications(b *testing.B, db *store.DB, held *service.AuthenticationSet) *service.AuthenticationSet {
	b.Helper()
	set, err := db.LoadAuthentications(b.Context(), held)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

// putAuthentications creates count authentications of a realistic size, with numbers from
// first.
func putAuthentications(b *testing.B, db *store.DB, first, count int) {
	b.Helper()
	err := db.UpdateAuthentications(b.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		for i := first; i < first+count; i++ {
			a := &service.Authentication{
				ID: service.NewID(), Method: service.MethodOIDC, TokenHash: service.HashToken(service.NewID()),
				ExpiresAt: tx.Now().Add(24 * time.Hour), CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
				Metadata: map[string]string{
					"io.service.auth.oidc.provider": "google",
					"io.service.auth.oidc.email":    fmt.Sprintf("person-%d@example.com", i),
					"io.service.auth.oidc.name":     fmt.Sprint("Person ", i),
				},
			}
			if err := tx.PutAuthentication(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
