package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func TestParseReference(t *testing.T) {
	at := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	const (
		moment   = `after "@" must be a revision, such as 412, or a time in RFC 3339, such as 2026-11-20T14:03:00Z`
		positive = `the revision must be positive`
		tooLarge = `the revision must be less than 2^63`
	)
	for _, c := range []struct {
		text string
		want service.Reference
		err  string // the rule, or "" if the reference is valid
	}{
		{text: "shop", want: service.Reference{Namespace: "shop"}},
		{text: "", want: service.Reference{Namespace: "default"}},
		{text: "shop@412", want: service.Reference{Namespace: "shop", At: service.Moment{Revision: 412}}},
		{text: "@1", want: service.Reference{Namespace: "default", At: service.Moment{Revision: 1}}},
		{text: "shop@9223372036854775807", want: service.Reference{Namespace: "shop", At: service.Moment{Revision: 1<<63 - 1}}},
		{text: "shop@2026-11-20T14:03:00Z", want: service.Reference{Namespace: "shop", At: service.Moment{Time: at("2026-11-20T14:03:00Z")}}},
		{text: "shop@2026-11-20T14:03:00.000001+01:30", want: service.Reference{Namespace: "shop", At: service.Moment{Time: at("2026-11-20T14:03:00.000001+01:30")}}},
		{text: "no key!@7", want: service.Reference{Namespace: "no key!", At: service.Moment{Revision: 7}}}, // there is no such namespace
		{text: "shop@", err: moment},
		{text: "shop@@4", err: moment},
		{text: "shop@4@5", err: moment},
		{text: "shop@ 4", err: moment},
		{text: "shop@4 ", err: moment},
		{text: "shop@+4", err: moment},
		{text: "shop@0x10", err: moment},
		{text: "shop@1e3", err: moment},
		{text: "shop@latest", err: moment},
		{text: "shop@2026-11-20", err: moment},
		{text: "shop@2026-11-20T14:03:00", err: moment},
		{text: "shop@2026-11-20 14:03:00Z", err: moment},
		{text: "shop@2026-11-20T4:03:00Z", err: moment},
		{text: "shop@2026-11-20T14:03:00,5Z", err: moment},
		{text: "shop@2026-13-20T14:03:00Z", err: moment},
		{text: "shop@0001-01-01T00:00:00Z", err: moment},
		{text: "shop@0", err: positive},
		{text: "shop@000", err: positive},
		{text: "shop@-0", err: positive},
		{text: "shop@-412", err: positive},
		{text: "shop@9223372036854775808", err: tooLarge},
		{text: "shop@" + strings.Repeat("9", 100), err: tooLarge},
		{text: "shop@\xff\x00", err: moment},
	} {
		got, err := service.ParseReference(c.text)
		if c.err != "" {
			if !errors.Is(err, guidon.InvalidArgument) || !strings.HasPrefix(err.Error(), "invalid reference \"") || !strings.HasSuffix(err.Error(), ": "+c.err) {
				t.Errorf("%q: got %v, want the rule %s", c.text, err, c.err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", c.text, err, diff)
		}
	}
	if _, err := service.ParseReference("a@" + strings.Repeat("x", 1<<20)); len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

// A reference that is parsed is the same after it was written and parsed again, and its
// namespace is the text before the first "@", whatever follows.
func FuzzReference(f *testing.F) {
	for _, seed := range []string{"", "shop", "@", "shop@412", "shop@-1", "shop@2026-11-20T14:03:00.5+23:59", "a@b@c", "a@9223372036854775808"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := service.ParseReference(text)
		before, _, named := strings.Cut(text, "@")
		if r.Namespace != guidon.NamespaceKey(before) {
			t.Fatalf("%q: got the namespace %q", text, r.Namespace)
		}
		if key, past := service.ReferenceKey(text); key != before || past != named {
			t.Fatalf("%q: got the key %q, %t", text, key, past)
		}
		if err != nil {
			if !errors.Is(err, guidon.InvalidArgument) || !r.At.IsCurrent() {
				t.Fatalf("%q: got %+v, %v", text, r, err)
			}
			return
		}
		if named == r.At.IsCurrent() || r.At.Revision < 0 || r.At.Revision > 0 && !r.At.Time.IsZero() {
			t.Fatalf("%q: got %+v", text, r)
		}
		again, err := service.ParseReference(r.String())
		if err != nil || again.Namespace != r.Namespace || again.At.Revision != r.At.Revision || !again.At.Time.Equal(r.At.Time) {
			t.Fatalf("%q: got %+v, then %+v, %v", text, r, again, err)
		}
	})
}

// pasts is a store with a current revision that fails to be anything but that.
type pasts struct {
	laggingStore
	asked []service.Demand
}

func (s *pasts) SnapshotAt(_ context.Context, namespace string, at service.Moment, d service.Demand, _ service.Admit) (*guidon.Snapshot, error) {
	s.asked = append(s.asked, d)
	return guidon.NewSnapshot(&guidon.Namespace{Key: namespace}, guidon.Revision{Number: at.Revision}, nil, nil), nil
}

func TestViewAt(t *testing.T) {
	ref := service.Reference{Namespace: "shop", At: service.Moment{Revision: 3}}
	for _, c := range []struct {
		name    string
		store   pasts
		ref     service.Reference
		demand  service.Demand
		want    int64
		err     error
		current int // queries for the current state
	}{
		{"an earlier state", pasts{laggingStore: laggingStore{revision: 5}}, ref, service.Demand{}, 3, nil, 0},
		{"the current state", pasts{laggingStore: laggingStore{revision: 5}}, service.Reference{Namespace: "shop"}, service.Demand{}, 5, nil, 1},
		{"a minimum that is reached", pasts{laggingStore: laggingStore{revision: 5}}, ref, service.Demand{AtLeast: 5}, 3, nil, 1},
		{"a minimum that is reached later", pasts{laggingStore: laggingStore{revision: 5, step: 1}}, ref, service.Demand{AtLeast: 7}, 3, nil, 2},
		{"a deleted namespace", pasts{laggingStore: laggingStore{missing: true}}, ref, service.Demand{AtLeast: 5}, 3, nil, 2},
		{"fresh", pasts{}, ref, service.Demand{Fresh: true, MayBeStale: true}, 3, nil, 0},
	} {
		v, err := service.NewService(&c.store, time.Now).ViewAt(t.Context(), c.ref, c.demand, nil)
		if !errors.Is(err, c.err) || v.Revision != c.want || v.Namespace != "shop" || len(c.store.demands) != c.current {
			t.Errorf("%s: got %+v, %v after %d queries", c.name, v.State, err, len(c.store.demands))
		}
		for _, d := range c.store.asked {
			if d.AtLeast != 0 || d.MayBeStale || d.Fresh != c.demand.Fresh {
				t.Errorf("%s: the store was asked with %+v", c.name, d)
			}
		}
	}
}
