package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Keys are compared byte by byte: keys that differ in any byte are different.
func testCollation(t *testing.T, s service.Store) {
	keys := []string{
		"a", "A", "aa", "a-", "a_", "a,b", "a-b", "a_b", "axb", "-", "_", ",", "--", "1", "01", "1-0",
		strings.Repeat("k", 255), strings.Repeat("k", 254) + "K",
	}
	for _, key := range keys {
		createNamespace(t, s, "ns-"+key[:min(len(key), 200)]+key[len(key)-1:])
		f, g := newFlag(key), newSegment(key)
		f.Description, g.Description = key, key
		update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
			_, err := tx.Flag(ctx, key)
			wantCode(t, "flag "+key+" before it exists", err, guidon.NotFound)
			return errors.Join(tx.PutFlag(ctx, f), tx.PutSegment(ctx, g))
		})
	}
	shot := snapshot(t, s, defaultNamespace)
	wantEqual(t, "flags", keys, flagKeys(shot.Flags()))
	wantEqual(t, "segments", keys, segmentKeys(shot.Segments()))
	for _, key := range keys {
		update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
			f, err := tx.Flag(ctx, key)
			if err != nil || f.Description != key {
				t.Errorf("flag %q: got %v, %v", key, f, err)
			}
			return nil
		})
		wantEqual(t, fmt.Sprintf("records of key %q", key), 2, len(allChanges(t, s, change.Query{Namespace: defaultNamespace, Key: key})))
	}
}

// Strings are returned as they were stored, whatever characters they contain.
func testText(t *testing.T, s service.Store) {
	texts := []string{
		"", " ", "Ünïcödé", "日本語", "👩‍👩‍👧", "e\u0301 and é", "right\u202eleft", "NUL \x00 inside", "\x01\x1f\x7f",
		"line\nbreak\ttab\r", `quotes " ' \ and ''`, "<script>&amp;", "\u2028\u2029", "\ufeff\ufffd\U0010ffff", "?$1:name@p%s;--",
	}
	for i, text := range texts {
		f := newFlag(fmt.Sprint("flag-", i))
		f.Name, f.Description = text, text
		putFlags(t, s, defaultNamespace, f)
	}
	shot := snapshot(t, s, defaultNamespace)
	for i, want := range texts {
		if got := shot.Flag(fmt.Sprint("flag-", i)); got.Name != want || got.Description != want {
			t.Errorf("got %q and %q, want %q", got.Name, got.Description, want)
		}
	}
	wantReplay(t, s, defaultNamespace)
}

// A request may contain any key. A key that no database can store is not found,
// rather than an error of the database. A similar key does not match either.
func testUnstorableKeys(t *testing.T, s service.Store) {
	putFlags(t, s, defaultNamespace, newFlag("a"))
	for _, suffix := range []string{" ", "\x00", "\xff", strings.Repeat("x", 300)} {
		_, _, err := s.Snapshot(t.Context(), defaultNamespace+suffix, service.Demand{})
		wantCode(t, fmt.Sprintf("namespace with %.5q", suffix), err, guidon.NotFound)
		update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
			_, err := tx.Flag(ctx, "a"+suffix)
			wantCode(t, fmt.Sprintf("flag with %.5q", suffix), err, guidon.NotFound)
			return nil
		})
		query := change.Query{Namespace: defaultNamespace, Key: "a" + suffix, Limit: 1}
		if got, err := s.Changes(t.Context(), query); err != nil || len(got) != 0 {
			t.Errorf("changes of a key with %.5q: got %d, %v", suffix, len(got), err)
		}
	}
	putAuthentication(t, s, newAuthentication("a"))
	before := authentications(t, s).Revision()
	for _, suffix := range []string{" ", "\x00", "\xff", strings.Repeat("x", 300)} {
		updateAuthentications(t, s, func(ctx context.Context, tx service.AuthenticationTx) error {
			_, err := tx.Authentication(ctx, "a"+suffix)
			wantCode(t, fmt.Sprintf("authentication with %.5q", suffix), err, guidon.NotFound)
			return tx.DeleteAuthentication(ctx, "a"+suffix)
		})
		if suffix == " " {
			continue // it can be stored
		}
		for name, change := range map[string]func(a *service.Authentication){
			"id":   func(a *service.Authentication) { a.ID += suffix },
			"hash": func(a *service.Authentication) { a.TokenHash += suffix },
		} {
			err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
				a := newAuthentication("b")
				change(a)
				return tx.PutAuthentication(ctx, a)
			})
			wantCode(t, fmt.Sprintf("storing an authentication whose %s has %.5q", name, suffix), err, guidon.InvalidArgument)
		}
	}
	if after := authentications(t, s); after.Revision() != before || !cmp.Equal(ids(after.All()), []string{"a"}) {
		t.Errorf("got authentications %q at %v, want no change since %v", ids(after.All()), after.Revision(), before)
	}
	_, err := s.Update(t.Context(), defaultNamespace, service.Write{By: service.Caller{Actor: change.Actor{ID: strings.Repeat("é",
		300), Name: "NUL \x00", Method: "m"}, RequestID: "broken \xff"}}, putObjects(newFlag("b")))
	if err != nil {
		t.Errorf("an actor with unusual characters: %v", err)
	}
}

// An attachment may have 1,024,000 bytes, and a flag may have several attachments
// (contract 4.2).
func testAttachments(t *testing.T, s service.Store) {
	attachment := `"` + strings.Repeat("x", 1_024_000-2) + `"`
	f := newFlag("large")
	for i := range 3 {
		f.Variants = append(f.Variants, &guidon.Variant{ID: fmt.Sprint(i), Key: fmt.Sprint(i), Attachment: attachment})
	}
	putFlags(t, s, defaultNamespace, f)
	for _, v := range snapshot(t, s, defaultNamespace).Flag("large").Variants {
		if v.Attachment != attachment {
			t.Errorf("variant %s: got an attachment of %d bytes, want %d", v.Key, len(v.Attachment), len(attachment))
		}
	}
}

func testTooLarge(t *testing.T, s service.Store) {
	current := putFlags(t, s, defaultNamespace, newFlag("a"))
	f, g := newFlag("a"), newSegment("s")
	f.Description = strings.Repeat("x", service.MaxObjectSize)
	g.Description = f.Description
	for name, fn := range map[string]func(ctx context.Context, tx service.Tx) error{
		"flag":    putObjects(f),
		"segment": putObjects(g),
	} {
		_, err := s.Update(t.Context(), defaultNamespace, service.Write{}, fn)
		wantCode(t, name, err, guidon.TooLarge)
	}
	shot := snapshot(t, s, defaultNamespace)
	if shot.Revision().Number != current || shot.Flag("a").Description != "" {
		t.Error("an object that is too large changed something")
	}
	f.Description = strings.Repeat("x", service.MaxObjectSize-1000)
	putFlags(t, s, defaultNamespace, f)
	if got := snapshot(t, s, defaultNamespace).Flag("a").Description; got != f.Description {
		t.Errorf("the largest flag: got a description of %d bytes, want %d", len(got), len(f.Description))
	}
}

// Times are stored in UTC and whole microseconds. Those of the object that is put are
// converted to that form.
func testTimes(t *testing.T, s service.Store) {
	for _, at := range []time.Time{
		time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.FixedZone("", -5*3600)),
		time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
	} {
		f := newFlag("a")
		f.CreatedAt, f.UpdatedAt = at, at
		f.Variants = []*guidon.Variant{{ID: "v", Key: "v", CreatedAt: at, UpdatedAt: at}}
		update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
			if now := tx.Now(); now.Location() != time.UTC || now.Nanosecond()%1000 != 0 || now != tx.Now() {
				t.Errorf("the transaction's time is %v, then %v", now, tx.Now())
			}
			return tx.PutFlag(ctx, f)
		})
		want := at.UTC().Truncate(time.Microsecond)
		got := snapshot(t, s, defaultNamespace).Flag("a")
		if !got.CreatedAt.Equal(want) || got.CreatedAt.Location() != time.UTC || !got.Variants[0].UpdatedAt.Equal(want) {
			t.Errorf("got %v, want %v", got.CreatedAt, want)
		}
		f.Created = got.Created
		wantEqual(t, "the stored flag", f, got)
	}
}
