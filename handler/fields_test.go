package handler_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// form is one of the forms in which clients get namespaces, flags and segments.
type form struct {
	name  string
	paths []string // of requests that show it
	plain bool     // it has no flags with additions
	// lostOfFlags, lostOfSegments and lostOfNamespaces are the fields that it is known not to
	// have.
	lostOfFlags, lostOfSegments, lostOfNamespaces []string
}

// The fields that documents leave out: ids and times are the service's own, ranks are
// those of the list, and what refers to a variant does so by its key.
var (
	outsideFlagDocuments = []string{
		"CreatedAt", "Rollouts.Conditions.Groups.Constraints.CreatedAt", "Rollouts.Conditions.Groups.Constraints.ID",
		"Rollouts.Conditions.Groups.Constraints.UpdatedAt", "Rollouts.CreatedAt", "Rollouts.ID", "Rollouts.Rank", "Rollouts.UpdatedAt",
		"Rules.Conditions.Groups.Constraints.CreatedAt", "Rules.Conditions.Groups.Constraints.ID",
		"Rules.Conditions.Groups.Constraints.UpdatedAt",
		"Rules.CreatedAt", "Rules.Distributions.CreatedAt", "Rules.Distributions.ID", "Rules.Distributions.UpdatedAt",
		"Rules.ID", "Rules.Rank", "Rules.UpdatedAt", "UpdatedAt", "Variants.CreatedAt", "Variants.UpdatedAt",
	}
	outsideNamespaceDocuments = []string{"CreatedAt", "Protected", "UpdatedAt"}

	outsideSegmentDocuments = []string{"Constraints.CreatedAt", "Constraints.ID", "Constraints.UpdatedAt", "CreatedAt", "UpdatedAt"}
)

var forms = []form{
	{
		name: "messages",
		paths: []string{
			"/api/v1/namespaces/default", "/api/v1/namespaces/default/flags", "/api/v1/namespaces/default/segments",
			"/api/v1/namespaces/default/flags/variant/rules", "/api/v1/namespaces/default/flags/variant/rollouts",
			"/api/v1/namespaces/default/flags/boolean/rules", "/api/v1/namespaces/default/flags/boolean/rollouts",
		},
		lostOfFlags: slices.DeleteFunc(slices.Clone(outsideFlagDocuments), func(path string) bool { return !strings.Contains(path, "Groups") }),
	},
	{
		name:           "documents",
		paths:          []string{"/api/v1/namespaces/default/export"},
		lostOfFlags:    outsideFlagDocuments,
		lostOfSegments: outsideSegmentDocuments, lostOfNamespaces: outsideNamespaceDocuments,
	},
	{
		name:  "client-side snapshot", // what evaluation needs (contract 9.1)
		paths: []string{"/internal/v1/evaluation/snapshot/namespace/default"},
		plain: true,
		lostOfFlags: []string{
			"Metadata", "Rollouts.Conditions.Everyone", "Rollouts.Conditions.From", "Rollouts.CreatedAt", "Rollouts.Description", "Rollouts.ID", "Rollouts.UpdatedAt",
			"Rules.Conditions.Everyone", "Rules.Conditions.From", "Rules.CreatedAt",
			"Rules.Distributions.CreatedAt", "Rules.Distributions.ID", "Rules.Distributions.UpdatedAt", "Rules.UpdatedAt", "Variants.CreatedAt", "Variants.Description", "Variants.Name", "Variants.UpdatedAt",
		},
		lostOfSegments: []string{
			"Constraints.CreatedAt", "Constraints.Description", "Constraints.UpdatedAt",
			"CreatedAt", "Description", "Name", "UpdatedAt",
		},
		lostOfNamespaces: []string{"Color", "ConfirmChanges", "CreatedAt", "Description", "Name", "Protected", "UpdatedAt"},
	},
}

// TestFieldsOfForms changes every field of a namespace, a flag and a segment in the store,
// and expects each form to show the difference.
func TestFieldsOfForms(t *testing.T) {
	withoutRaceDetector(t)
	db := cache.New(newDB(t))
	s := newInside(t, "writes to the store what no request can", func(c *handler.Config) {
		c.Service = service.NewService(db, time.Now)
	})
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			show := func() (text string) {
				for _, path := range form.paths {
					text += s.do("GET", path, "", "X-Flipt-Accept-Server-Version", "1.47.0").body + "\n"
				}
				return text
			}
			filled := filledSegments(form.plain)
			var lost []string
			for i, f := range filledFlags(form.plain) {
				lostHere := flagtest.LostFields(f, func(f *guidon.Flag) string {
					putAll(t, db, []*guidon.Flag{f}, filled...)
					return show()
				})
				if i == 0 {
					lost = lostHere
				}
				lost = slices.DeleteFunc(lost, func(path string) bool { return !slices.Contains(lostHere, path) })
			}
			if diff := cmp.Diff(form.lostOfFlags, lost); diff != "" {
				t.Errorf("the fields that are lost (-want +got):\n%s", diff)
			}
			lost = flagtest.LostFields(filled[0], func(g *guidon.Segment) string {
				putAll(t, db, filledFlags(form.plain)[:1], append([]*guidon.Segment{g}, filled[1:]...)...)
				return show()
			})
			if diff := cmp.Diff(form.lostOfSegments, lost); diff != "" {
				t.Errorf("the fields of segments that are lost (-want +got):\n%s", diff)
			}
			lost = flagtest.LostFields(flagtest.FilledNamespace("default"), func(n *guidon.Namespace) string {
				put := *n
				put.Key = "default" // which identifies it
				_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error { return tx.PutNamespace(ctx, &put) })
				if err != nil {
					t.Fatal(err)
				}
				return show()
			})
			lost = slices.DeleteFunc(lost, func(path string) bool { return path == "Key" })
			if diff := cmp.Diff(form.lostOfNamespaces, lost, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the fields of namespaces that are lost (-want +got):\n%s", diff)
			}
		})
	}
}

// filledFlags returns filled flags: plain ones without conditions and requirements.
func filledFlags(plain bool) []*guidon.Flag {
	flags := flagtest.FilledFlags()
	for _, f := range flags {
		if !plain {
			break
		}
		f.Requires = nil
		for _, r := range f.Rules {
			r.Conditions, r.Split = &guidon.Conditions{}, nil
		}
		for _, r := range f.Rollouts {
			r.Conditions = &guidon.Conditions{}
			if r.Threshold != nil {
				r.Threshold.Start, r.Threshold.Split, r.Threshold.Ramp = 0, nil, nil
			}
		}
	}
	return flags
}

// filledSegments returns segments for filled flags to refer to: plain ones without negations.
func filledSegments(plain bool) (segments []*guidon.Segment) {
	for _, key := range flagtest.FilledSegmentKeys {
		g := flagtest.FilledSegment(key)
		for _, c := range g.Constraints {
			c.Negate = c.Negate && !plain
		}
		segments = append(segments, g)
	}
	return segments
}

// putAll makes the default namespace hold these flags and segments.
func putAll(t testing.TB, db service.Store, flags []*guidon.Flag, segments ...*guidon.Segment) {
	t.Helper()
	_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		if err := clearAll(ctx, tx); err != nil {
			return err
		}
		for _, g := range segments {
			if err := tx.PutSegment(ctx, g); err != nil {
				return err
			}
		}
		for _, f := range flags {
			if err := tx.PutFlag(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func clearAll(ctx context.Context, tx service.Tx) error {
	flags, err := tx.FlagKeys(ctx)
	if err != nil {
		return err
	}
	for _, key := range flags {
		if err := tx.DeleteFlag(ctx, key); err != nil {
			return err
		}
	}
	segments, err := tx.SegmentKeys(ctx)
	if err != nil {
		return err
	}
	for _, key := range segments {
		if err := tx.DeleteSegment(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// TestFieldsRoundTrip exports everything, imports it into another namespace by way of a
// YAML and of a JSON file and of messages, and expects the same export from there.
func TestFieldsRoundTrip(t *testing.T) {
	db := cache.New(newDB(t))
	s := newInside(t, "writes to the store what no request can", func(c *handler.Config) {
		c.Service = service.NewService(db, time.Now)
	})
	putAll(t, db, append(flagtest.FilledFlags(), flagtest.FilledRequired()), filledSegments(false)...)
	_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutNamespace(ctx, flagtest.FilledNamespace("default"))
	})
	if err != nil {
		t.Fatal(err)
	}
	exported := func(namespace string) *service.Document {
		view, err := s.service.View(t.Context(), namespace, service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		return view.Export(false).Document()
	}
	want := exported("default")
	for name, format := range map[string]document.Format{"yaml": document.YAML, "json": document.JSON} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			if err := document.Encode(&file, format, []*service.Document{want}); err != nil {
				t.Fatal(err)
			}
			read, err := document.Decode(file.Bytes(), format, document.RejectUnknown)
			if err != nil {
				t.Fatal(err)
			}
			read[0].Namespace.Key = name
			if _, _, err := s.service.Import(t.Context(), service.Write{}, name, read[0], service.ImportCreate, false); err != nil {
				t.Fatal(err)
			}
			sameAs(t, want, exported(name))
		})
	}
	t.Run("wire", func(t *testing.T) {
		sent := strings.Replace(s.do("GET", "/api/v1/namespaces/default/export", "").body, `"key":"default"`, `"key":"wire"`, 1)
		if got := s.do("POST", "/api/v1/namespaces/wire/import", `{"document":`+sent+`}`); got.status != 200 {
			t.Fatal(got.status, got.body)
		}
		sameAs(t, want, exported("wire"))
	})
}

func sameAs(t *testing.T, want, got *service.Document) {
	t.Helper()
	got.Namespace.Key = want.Namespace.Key
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-exported +imported again:\n%s", diff)
	}
}
