package servicetest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// call is a call of the service.
type call func(ctx context.Context, w service.Write, namespace string) (int64, error)

// withInput returns the call of an operation that creates or updates something.
func withInput[I, O any](operation func(context.Context, service.Write, string, I) (O, int64, error), in I) call {
	return func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(operation(ctx, w, namespace, in))
	}
}

// withItems returns the call of an operation that orders or deletes items of an object.
func withItems[I any](operation func(context.Context, service.Write, string, string, I) (int64, error), of string, items I) call {
	return func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return operation(ctx, w, namespace, of, items)
	}
}

// verdict is the outcome of an operation on one object: it changes it, leaves it alone, or
// fails with a code.
type verdict struct {
	unchanged bool
	fails     guidon.Code
}

var (
	changes   = verdict{}
	unchanged = verdict{unchanged: true}
	notFound  = verdict{fails: guidon.NotFound}
	invalid   = verdict{fails: guidon.InvalidArgument}

	unstatedConditions = verdict{fails: guidon.FailedPrecondition}
)

// flagOperation changes a flag f of a state, and returns the call that does the same. If
// the flag does not exist, f has only its key, and missing is the verdict.
type flagOperation struct {
	name    string
	missing verdict
	make    func(m *model, now *state, f *guidon.Flag) (verdict, call)
}

var flagOperations = []flagOperation{
	{"UpdateFlag", notFound, (*model).updateFlag},
	{"UpdateFlag", notFound, (*model).updateFlag},
	{"TurnFlagOff", notFound, (*model).turnFlagOff},
	{"TurnFlagOn", notFound, (*model).turnFlagOn},
	{"CreateVariant", notFound, (*model).createVariant},
	{"CreateVariant", notFound, (*model).createVariant},
	{"UpdateVariant", notFound, (*model).updateVariant},
	{"DeleteVariant", unchanged, (*model).deleteVariant},
	{"CreateRule", notFound, (*model).createRule},
	{"UpdateRule", notFound, (*model).updateRule},
	{"OrderRules", unchanged, (*model).orderRules},
	{"DeleteRule", unchanged, (*model).deleteRule},
	{"CreateDistribution", notFound, (*model).createDistribution},
	{"CreateDistribution", notFound, (*model).createDistribution},
	{"UpdateDistribution", notFound, (*model).updateDistribution},
	{"DeleteDistribution", unchanged, (*model).deleteDistribution},
	{"CreateRollout", notFound, (*model).createRollout},
	{"UpdateRollout", notFound, (*model).updateRollout},
	{"OrderRollouts", unchanged, (*model).orderRollouts},
	{"DeleteRollout", unchanged, (*model).deleteRollout},
}

// changeFlag creates, changes or deletes one flag.
func (m *model) changeFlag(s *space) attempt {
	key, next := m.flagKey(), s.current().clone()
	if len(next.flags) > 0 && !m.one(4) {
		key = pick(m, slices.Sorted(maps.Keys(next.flags)))
	}
	if m.one(20) {
		delete(next.flags, key)
		return m.single(s, "DeleteFlag "+key, next, changes, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
			return m.service.DeleteFlag(ctx, w, namespace, key)
		})
	}
	have := next.flags[key]
	if have == nil && !m.one(6) || m.one(20) {
		return m.createFlag(s, key, next)
	}
	o, f := pick(m, flagOperations), &guidon.Flag{Key: key}
	if have != nil {
		f = flagtest.Copy(have)
	}
	v, call := o.make(m, next, f)
	if have == nil {
		v = o.missing
	}
	if v == changes {
		next.flags[key] = f
	}
	return m.single(s, o.name+" "+key, next, v, call)
}

// single returns the attempt to change one object of a state, which makes it next.
func (m *model) single(s *space, name string, next *state, v verdict, call call) attempt {
	if v == changes && !next.linked() {
		v = invalid
	}
	e := expectation{next: next, fails: v.fails}
	return attempt{
		space: s, name: name,
		run:    func(ctx context.Context, w service.Write) (int64, error) { return call(ctx, w, s.key) },
		expect: func() expectation { return e },
	}
}

func (m *model) createFlag(s *space, key string, next *state) attempt {
	f := m.source.Flag(key)
	in := guidon.Flag{Key: key, Name: f.Name, Description: f.Description, Type: f.Type, Enabled: f.Enabled, Metadata: f.Metadata}
	v := changes
	switch {
	case next.flags[key] != nil:
		v = invalid
	case next.namespace == nil:
		v = notFound
	default:
		next.flags[key] = &guidon.Flag{Key: key, Name: f.Name, Description: f.Description, Type: f.Type, Enabled: f.Enabled, Metadata: f.Metadata}
	}
	return m.single(s, "CreateFlag "+key, next, v, withInput(m.service.CreateFlag, in))
}

func (m *model) updateFlag(_ *state, f *guidon.Flag) (verdict, call) {
	v := changes
	in := guidon.Flag{Key: f.Key, Name: m.name(), Description: m.text(), Enabled: m.one(2)}
	f.Name, f.Description, f.Enabled = in.Name, in.Description, in.Enabled
	if m.one(2) {
		in.Metadata = json.RawMessage(pick(m, []string{`{}`, `{"owner":"me"}`, `{"owner":"me","ticket":1}`, `{"ticket":2}`}))
		if f.Metadata = in.Metadata; len(f.Metadata) == 2 {
			f.Metadata = nil
		}
	}
	in.DefaultVariantID = pickOr(m, f.Variants, &guidon.Variant{}).ID
	if m.one(10) {
		in.DefaultVariantID, v = "none", invalid
	}
	f.DefaultVariantID = in.DefaultVariantID
	return v, withInput(m.service.UpdateFlag, in)
}

func (m *model) variantInput(f *guidon.Flag) service.VariantInput {
	return service.VariantInput{
		FlagKey: f.Key, Key: pick(m, []string{"red", "green", "blue", "ключ"}), Name: m.text(), Description: m.text(),
		Attachment: pick(m, []string{"", `{"a":1}`, `[]`}),
	}
}

func (m *model) createVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, m.variantInput(f)
	if f.VariantByKey(in.Key) != nil {
		v = invalid
	}
	f.Variants = append(f.Variants,
		&guidon.Variant{ID: newID, Key: in.Key, Name: in.Name, Description: in.Description, Attachment: in.Attachment})
	return v, withInput(m.service.CreateVariant, in)
}

func (m *model) updateVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, in, have := changes, m.variantInput(f), pickOr(m, f.Variants, &guidon.Variant{ID: "none"})
	in.ID = have.ID
	switch other := f.VariantByKey(in.Key); {
	case have.ID == "none":
		v = notFound
	case other != nil && other != have:
		v = invalid
	}
	have.Key, have.Name, have.Description, have.Attachment = in.Key, in.Name, in.Description, in.Attachment
	return v, withInput(m.service.UpdateVariant, in)
}

func (m *model) deleteVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, id := unchanged, pickOr(m, f.Variants, &guidon.Variant{ID: "none"}).ID
	if id != "none" {
		v = changes
	}
	f.Variants = slices.DeleteFunc(f.Variants, func(v *guidon.Variant) bool { return v.ID == id })
	if f.DefaultVariantID == id {
		f.DefaultVariantID = ""
	}
	for _, r := range f.Rules {
		r.Distributions = slices.DeleteFunc(r.Distributions, func(d *guidon.Distribution) bool { return d.VariantID == id })
	}
	return v, withItems(m.service.DeleteVariant, f.Key, id)
}
