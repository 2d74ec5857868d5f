package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// historian makes random changes of every kind to one namespace, and keeps the exports.
type historian struct {
	t        testing.TB
	store    service.Store
	service  *service.Service
	random   *rand.Rand
	exported exports
	made     map[string]int // changes by their kind
}

func newHistorian(t testing.TB, s service.Store, namespace string) *historian {
	return &historian{
		t: t, store: s, service: service.NewService(s, time.Now),
		random:   rand.New(rand.NewPCG(16, 412)), // #nosec G404 -- a test
		exported: exports{namespace: namespace}, made: map[string]int{},
	}
}

// kinds returns how many kinds of changes were made.
func (h *historian) kinds() int { return len(h.made) }

// change makes a random change, or none if the state does not allow the one chosen.
func (h *historian) change() {
	names := h.names()
	name := names[h.random.IntN(len(names))]
	if name == "DeleteNamespace" && h.random.IntN(4) > 0 { // it would leave little else
		return
	}
	h.run(name)
}

// run makes the change with the name. Errors are expected: most arguments are random.
func (h *historian) run(name string) {
	h.t.Helper()
	revision, err := historianChanges[name](h, h.t.Context())
	if guidon.CodeOf(err) == guidon.Internal && err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	if err == nil && h.exported.keep(h.t, h.store, revision) {
		h.made[name]++
	}
}

func (h *historian) names() []string {
	var names []string
	for name := range historianChanges {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The random arguments.

func (h *historian) key(kind string) string { return fmt.Sprint(kind, h.random.IntN(5)) }
func (h *historian) text() string           { return fmt.Sprintf("<%d> ü", h.random.IntN(1000)) }
func (h *historian) yes() bool              { return h.random.IntN(2) == 0 }

// snapshot returns the current state, or an empty one.
func (h *historian) snapshot() *guidon.Snapshot {
	shot, _, err := h.store.Snapshot(h.t.Context(), h.exported.namespace, service.Demand{})
	if err != nil {
		return guidon.NewSnapshot(nil, guidon.Revision{}, nil, nil)
	}
	return shot
}

// flag returns a random flag, which may be empty.
func (h *historian) flag() *guidon.Flag {
	return pick(h, h.snapshot().Flags(), &guidon.Flag{Key: h.key("f")})
}

// segment returns a random segment, which may be empty.
func (h *historian) segment() *guidon.Segment {
	return pick(h, h.snapshot().Segments(), &guidon.Segment{Key: h.key("s")})
}

func pick[T any](h *historian, from []T, otherwise T) T {
	if len(from) == 0 {
		return otherwise
	}
	return from[h.random.IntN(len(from))]
}

func shuffled[T any](h *historian, items []*T, id func(*T) string) []string {
	var ids []string
	for _, item := range items {
		ids = append(ids, id(item))
	}
	h.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

func (h *historian) constraint(id string) service.ConstraintInput {
	return service.ConstraintInput{ID: id, Type: guidon.StringComparison, Property: h.key("p"), Operator: "eq", Value: h.text()}
}

func (h *historian) document() *service.Document {
	d := &service.Document{Namespace: service.DocumentNamespace{Key: h.exported.namespace, Name: h.text()}}
	for i := range 3 {
		d.Flags = append(d.Flags, &service.DocumentFlag{Key: fmt.Sprint("f", (i*2+h.random.IntN(2))%7), Name: h.text(), Enabled: h.yes()})
		d.Segments = append(d.Segments, &service.DocumentSegment{Key: fmt.Sprint("s", (i*2+h.random.IntN(2))%7), Name: h.text()})
	}
	return d
}

// result drops the object of a change.
func result[T any](_ T, revision int64, err error) (int64, error) { return revision, err }

type historianChange func(h *historian, ctx context.Context) (int64, error)

var write = service.Write{}

// historianChanges are all kinds of changes of a namespace.
var historianChanges = map[string]historianChange{
	"CreateNamespace": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.CreateNamespace(ctx, write, service.NamespaceInput{Key: h.exported.namespace, Name: h.text()}))
	},
	"UpdateNamespace": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.UpdateNamespace(ctx, write,
			service.NamespaceInput{Key: h.exported.namespace, Name: h.text(), Description: h.text()}))
	},
	"DeleteNamespace": func(h *historian, ctx context.Context) (int64, error) {
		return h.store.Update(ctx, h.exported.namespace, write, func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) })
	},
	"CreateFlag": func(h *historian, ctx context.Context) (int64, error) {
		in := service.FlagInput{Key: h.key("f"), Name: h.text(), Enabled: h.yes()}
		if h.yes() {
			in.Type = guidon.BooleanFlag
		}
		return result(h.service.CreateFlag(ctx, write, h.exported.namespace, in))
	},
	"UpdateFlag": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		in := service.FlagInput{Key: f.Key, Name: h.text(), Description: h.text(), Enabled: h.yes(), Metadata: json.RawMessage(`{"a":[1,"<ü>"]}`)}
		if v := pick(h, f.Variants, nil); v != nil && h.yes() {
			in.DefaultVariantID = v.ID
		}
		return result(h.service.UpdateFlag(ctx, write, h.exported.namespace, in))
	},
	"DeleteFlag": func(h *historian, ctx context.Context) (int64, error) {
		return h.service.DeleteFlag(ctx, write, h.exported.namespace, h.flag().Key)
	},
	"RecreateFlag": func(h *historian, ctx context.Context) (int64, error) {
		key := h.flag().Key
		return h.store.Update(ctx, h.exported.namespace, write, func(ctx context.Context, tx service.Tx) error {
			f, err := tx.Flag(ctx, key)
			if err != nil {
				return err
			}
			return errors.Join(tx.DeleteFlag(ctx, key), tx.PutFlag(ctx, f))
		})
	},
	"RecreateSegment": func(h *historian, ctx context.Context) (int64, error) {
		key := h.segment().Key
		return h.store.Update(ctx, h.exported.namespace, write, func(ctx context.Context, tx service.Tx) error {
			g, err := tx.Segment(ctx, key)
			if err != nil {
				return err
			}
			g.Description += "+"
			return errors.Join(tx.DeleteSegment(ctx, key), tx.PutSegment(ctx, newSegment("passing")), tx.PutSegment(ctx, g),
				tx.DeleteSegment(ctx, "passing"))
		})
	},
	"CreateVariant": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.CreateVariant(ctx, write, h.exported.namespace,
			service.VariantInput{FlagKey: h.flag().Key, Key: h.key("v"), Attachment: `{"a":1}`}))
	},
	"UpdateVariant": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		v := pick(h, f.Variants, &guidon.Variant{ID: "none"})
		return result(h.service.UpdateVariant(ctx, write, h.exported.namespace,
			service.VariantInput{FlagKey: f.Key, ID: v.ID, Key: h.key("v"), Name: h.text()}))
	},
	"DeleteVariant": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		return h.service.DeleteVariant(ctx, write, h.exported.namespace, f.Key, pick(h, f.Variants, &guidon.Variant{ID: "none"}).ID)
	},
	"CreateRule": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.CreateRule(ctx, write, h.exported.namespace,
			service.RuleInput{FlagKey: h.flag().Key, SegmentKeys: []string{h.segment().Key}, Rank: 1 + h.random.Int32N(3)}))
	},
	"UpdateRule": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		r := pick(h, f.Rules, &guidon.Rule{ID: "none"})
		return result(h.service.UpdateRule(ctx, write, h.exported.namespace, service.RuleInput{FlagKey: f.Key, ID: r.ID, SegmentKeys: []string{h.segment().Key, h.segment().Key}, SegmentOperator: guidon.AndSegments}))
	},
	"OrderRules": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		return h.service.OrderRules(ctx, write, h.exported.namespace, f.Key, shuffled(h, f.Rules, func(r *guidon.Rule) string { return r.ID }))
	},
	"DeleteRule": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		return h.service.DeleteRule(ctx, write, h.exported.namespace, f.Key, pick(h, f.Rules, &guidon.Rule{ID: "none"}).ID)
	},
	"CreateDistribution": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.CreateDistribution(ctx, write, h.exported.namespace, h.distribution()))
	},
	"UpdateDistribution": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.UpdateDistribution(ctx, write, h.exported.namespace, h.distribution()))
	},
	"DeleteDistribution": func(h *historian, ctx context.Context) (int64, error) {
		return h.service.DeleteDistribution(ctx, write, h.exported.namespace, h.distribution())
	},
	"CreateRollout": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.CreateRollout(ctx, write, h.exported.namespace, h.rollout(h.flag(), "")))
	},
	"UpdateRollout": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		return result(h.service.UpdateRollout(ctx, write, h.exported.namespace,
			h.rollout(f, pick(h, f.Rollouts, &guidon.Rollout{ID: "none"}).ID)))
	},
	"OrderRollouts": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		return h.service.OrderRollouts(ctx, write, h.exported.namespace, f.Key,
			shuffled(h, f.Rollouts, func(r *guidon.Rollout) string { return r.ID }))
	},
	"DeleteRollout": func(h *historian, ctx context.Context) (int64, error) {
		f := h.flag()
		return h.service.DeleteRollout(ctx, write, h.exported.namespace, f.Key, pick(h, f.Rollouts, &guidon.Rollout{ID: "none"}).ID)
	},
	"CreateSegment": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.CreateSegment(ctx, write, h.exported.namespace, service.SegmentInput{Key: h.key("s"), Name: h.text()}))
	},
	"UpdateSegment": func(h *historian, ctx context.Context) (int64, error) {
		return result(h.service.UpdateSegment(ctx, write, h.exported.namespace,
			service.SegmentInput{Key: h.segment().Key, Name: h.text(), MatchType: guidon.MatchAny}))
	},
	"DeleteSegment": func(h *historian, ctx context.Context) (int64, error) {
		return h.service.DeleteSegment(ctx, write, h.exported.namespace, h.segment().Key)
	},
	"CreateConstraint": func(h *historian, ctx context.Context) (int64, error) {
		in := h.constraint("")
		in.SegmentKey = h.segment().Key
		return result(h.service.CreateConstraint(ctx, write, h.exported.namespace, in))
	},
	"UpdateConstraint": func(h *historian, ctx context.Context) (int64, error) {
		g := h.segment()
		in := h.constraint(pick(h, g.Constraints, &guidon.Constraint{ID: "none"}).ID)
		in.SegmentKey = g.Key
		return result(h.service.UpdateConstraint(ctx, write, h.exported.namespace, in))
	},
	"DeleteConstraint": func(h *historian, ctx context.Context) (int64, error) {
		g := h.segment()
		return h.service.DeleteConstraint(ctx, write, h.exported.namespace, g.Key, pick(h, g.Constraints, &guidon.Constraint{ID: "none"}).ID)
	},
	"Import": func(h *historian, ctx context.Context) (int64, error) {
		mode := pick(h, []service.ImportMode{service.ImportCreate, service.ImportSkipExisting, service.ImportUpdate, service.ImportReplace}, 0)
		return result(h.service.Import(ctx, write, h.exported.namespace, h.document(), mode, false))
	},
}

// distribution returns the arguments for a distribution of a random rule.
func (h *historian) distribution() service.DistributionInput {
	f := h.flag()
	r := pick(h, f.Rules, &guidon.Rule{ID: "none"})
	d := pick(h, r.Distributions, &guidon.Distribution{ID: "none", VariantID: pick(h, f.Variants, &guidon.Variant{ID: "none"}).ID})
	return service.DistributionInput{ID: d.ID, FlagKey: f.Key, RuleID: r.ID, VariantID: d.VariantID, Rollout: h.random.Float32() * 100}
}

// rollout returns the arguments for a rollout of the flag.
func (h *historian) rollout(f *guidon.Flag, id string) service.RolloutInput {
	in := service.RolloutInput{ID: id, FlagKey: f.Key, Rank: h.random.Int32N(3), Description: h.text()}
	existing := f.Rollout(id)
	if existing == nil && h.yes() || existing != nil && existing.Segment != nil {
		in.Segment = &service.RolloutSegmentInput{SegmentKey: h.segment().Key, Value: h.yes()}
		return in
	}
	in.Threshold = &guidon.RolloutThreshold{Percentage: h.random.Float32() * 100, Value: h.yes()}
	return in
}

func mustJSON(t testing.TB, object any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
