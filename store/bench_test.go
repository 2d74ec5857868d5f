package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/storetest"
)

const benchFlags = 10_000

// benchFlag returns a flag of realistic size.
func benchFlag(tx service.Tx, i int) *guidon.Flag {
	now := tx.Now()
	f := &guidon.Flag{
		Key: fmt.Sprintf("flag-%05d", i), Name: fmt.Sprint("Flag ", i), Description: "What the flag is for",
		Enabled: true, CreatedAt: now, UpdatedAt: now,
	}
	rule := &guidon.Rule{ID: service.NewID(), SegmentKeys: []string{fmt.Sprintf("segment-%d", i%100)}, Rank: 1, CreatedAt: now, UpdatedAt: now}
	for _, key := range []string{"on", "off"} {
		v := &guidon.Variant{ID: service.NewID(), Key: key, CreatedAt: now, UpdatedAt: now}
		f.Variants = append(f.Variants, v)
		rule.Distributions = append(rule.Distributions, &guidon.Distribution{
			ID: service.NewID(), VariantID: v.ID, Rollout: 50, CreatedAt: now, UpdatedAt: now,
		})
	}
	f.Rules = []*guidon.Rule{rule}
	return f
}

func fill(ctx context.Context, tx service.Tx) error {
	for i := range 100 {
		g := &guidon.Segment{Key: fmt.Sprintf("segment-%d", i), Name: "Segment", CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		g.Constraints = []*guidon.Constraint{{
			ID: service.NewID(), Type: guidon.StringComparison, Property: "country", Operator: guidon.OpEQ, Value: "de", CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}}
		if err := tx.PutSegment(ctx, g); err != nil {
			return err
		}
	}
	for i := range benchFlags {
		if err := tx.PutFlag(ctx, benchFlag(tx, i)); err != nil {
			return err
		}
	}
	return nil
}

// toggle changes one flag.
func toggle(ctx context.Context, tx service.Tx) error {
	f, err := tx.Flag(ctx, "flag-05000")
	if err != nil {
		return err
	}
	f.Enabled, f.UpdatedAt = !f.Enabled, tx.Now()
	return tx.PutFlag(ctx, f)
}

func BenchmarkLoadFull(b *testing.B) {
	db := storetest.NewSQLite(b)
	write(b, db, "default", fill)
	b.ReportAllocs()
	for b.Loop() {
		if n := len(load(b, db, nil).Flags()); n != benchFlags {
			b.Fatalf("got %d flags", n)
		}
	}
}

func BenchmarkLoadAfterOneChange(b *testing.B) {
	db := storetest.NewSQLite(b)
	write(b, db, "default", fill)
	held := load(b, db, nil)
	write(b, db, "default", toggle)
	b.ReportAllocs()
	for b.Loop() {
		if load(b, db, held) == held {
			b.Fatal("got the held snapshot after a change")
		}
	}
}

func BenchmarkLoadUnchanged(b *testing.B) {
	db := storetest.NewSQLite(b)
	write(b, db, "default", fill)
	held := load(b, db, nil)
	b.ReportAllocs()
	for b.Loop() {
		if load(b, db, held) != held {
			b.Fatal("got a new snapshot without a change")
		}
	}
}

func BenchmarkUpdateOneFlag(b *testing.B) {
	db := storetest.NewSQLite(b)
	write(b, db, "default", fill)
	b.ReportAllocs()
	for b.Loop() {
		write(b, db, "default", toggle)
	}
}

// BenchmarkBareCommit is the lower limit for BenchmarkUpdateOneFlag: one row and one
// commit with the same driver, file system and pragmas.
func BenchmarkBareCommit(b *testing.B) {
	db := storetest.NewSQLite(b)
	if _, err := db.SQL().ExecContext(b.Context(), "CREATE TABLE bare (n BIGINT PRIMARY KEY, body TEXT)"); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		if _, err := db.SQL().ExecContext(b.Context(), "INSERT INTO bare (n, body) VALUES (?, ?)", n, "body"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkImport(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		db := storetest.NewSQLite(b)
		b.StartTimer()
		write(b, db, "default", fill)
	}
}
