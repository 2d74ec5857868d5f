package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// linkedFlag returns a flag that requires another.
func linkedFlag(key string) *guidon.Flag {
	f := newFlag(key)
	f.Requires = []guidon.Requirement{{FlagKey: "other"}, {FlagKey: "third", Answers: []string{"x", "y"}}}
	return f
}

// testLinkedFlags reads the flags that require others as the transaction has left them.
func testLinkedFlags(t *testing.T, s service.Store) {
	rule := newFlag("by-rule")
	rule.Rules = []*guidon.Rule{{ID: "r", Conditions: &guidon.Conditions{Everyone: true, Requires: []guidon.Requirement{{FlagKey: "other"}}}}}
	ramped := linkedFlag("ramped")
	ramped.Rules = []*guidon.Rule{{ID: "r", Conditions: &guidon.Conditions{Everyone: true, Portion: &guidon.Portion{Percentage: 5, Ramp: &guidon.Ramp{Over: 60e9}}}}}
	additions := newFlag("additions")
	additions.Rules = []*guidon.Rule{{ID: "r", CodeDefault: true, Conditions: &guidon.Conditions{Everyone: true}}}
	texts := []*guidon.Flag{newFlag("FLAG_TYPE+3"), newFlag("%"), newFlag("named")}
	texts[1].Description, texts[2].Name = `"type":"BOOLEAN_FLAG_TYPE+3"`, "FLAG_TYPE+3"

	createNamespace(t, s, "elsewhere")
	putFlags(t, s, "elsewhere", linkedFlag("z"))
	want := func(ctx context.Context, tx service.Tx, when string, keys ...string) {
		t.Helper()
		got, err := tx.LinkedFlags(ctx)
		if err != nil {
			t.Errorf("%s: %v", when, err)
		}
		wantEqual(t, when, keys, flagKeys(got))
	}
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		want(ctx, tx, "none", []string{}...)
		err := errors.Join(tx.PutFlag(ctx, linkedFlag("b")), tx.PutFlag(ctx, newFlag("plain")), tx.PutFlag(ctx, rule), tx.PutFlag(ctx, additions),
			tx.PutFlag(ctx, linkedFlag("a")), tx.PutFlag(ctx, ramped), tx.PutFlag(ctx, linkedFlag("gone")))
		for _, f := range texts {
			err = errors.Join(err, tx.PutFlag(ctx, f))
		}
		want(ctx, tx, "created", "b", "by-rule", "a", "ramped", "gone")
		return err
	})
	for name, read := range map[string]func(ctx context.Context, tx service.Tx) error{
		"nothing read":  func(context.Context, service.Tx) error { return nil },
		"all keys read": func(ctx context.Context, tx service.Tx) error { _, err := tx.FlagKeys(ctx); return err },
		"all read":      func(ctx context.Context, tx service.Tx) error { _, err := tx.Flags(ctx); return err },
		"some read": func(ctx context.Context, tx service.Tx) error {
			_, err := tx.FlagKeys(ctx)
			_, second := tx.Flag(ctx, "a")
			return errors.Join(err, second)
		},
	} {
		_, err := s.Update(t.Context(), defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			if err := read(ctx, tx); err != nil {
				return err
			}
			want(ctx, tx, name, "b", "by-rule", "a", "ramped", "gone")
			err := errors.Join(tx.DeleteFlag(ctx, "gone"), tx.PutFlag(ctx, newFlag("a")), tx.PutFlag(ctx, linkedFlag("plain")), tx.PutFlag(ctx, linkedFlag("new")))
			want(ctx, tx, name+", changed", "b", "plain", "by-rule", "ramped", "new")
			keys, second := tx.FlagKeys(ctx)
			wantEqual(t, name+", all", []string{"b", "plain", "by-rule", "additions", "a", "ramped", "FLAG_TYPE+3", "%", "named", "new"}, keys)
			f, third := tx.Flag(ctx, "ramped")
			f.Created = guidon.Position{}
			wantEqual(t, name, ramped, f)
			return errors.Join(err, second, third, errStop)
		})
		if !errors.Is(err, errStop) || errors.Is(err, guidon.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		want(ctx, tx, "after failed updates", "b", "by-rule", "a", "ramped", "gone")
		return nil
	})
	wantEqual(t, "flags of the snapshot that require others", 5, len(snapshot(t, s, defaultNamespace).Requiring()))
	deleteNamespace(t, s, "elsewhere")
	update(t, s, "elsewhere", func(ctx context.Context, tx service.Tx) error {
		want(ctx, tx, "a deleted namespace", []string{}...)
		return nil
	})
}

// testManyLinkedFlags reads so many that a store may need more than one page for them.
func testManyLinkedFlags(t *testing.T, s service.Store) {
	const many = 500
	var keys []string
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		keys = nil
		for i := range many {
			f := newFlag(fmt.Sprint("plain-", i))
			if i%2 == 0 {
				f = linkedFlag(fmt.Sprint("linked-", i))
				keys = append(keys, f.Key)
			}
			if err := tx.PutFlag(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		all, err := tx.FlagKeys(ctx)
		if err != nil {
			return err
		}
		for _, key := range all[:150] { // more than are read ahead
			if _, err := tx.Flag(ctx, key); err != nil {
				return err
			}
		}
		got, err := tx.LinkedFlags(ctx)
		wantEqual(t, "linked flags", keys, flagKeys(got))
		return err
	})
}
