package service

import (
	"cmp"
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// Limits of explanations: entities of a batch, and properties of a context.
const (
	MaxExplained        = 1000
	maxExplainedContext = 1000
)

// Entity is an entity that a flag is evaluated for.
type Entity struct {
	ID      string
	Context map[string]string
}

// Explain explains the evaluation of a flag or, if edited is not nil, of the flag that saving
// it would result in; then the flag need not exist. It returns the errors of [CheckExplain] and of
// [analysis.Explain], and InvalidArgument with the problems of the edited flag.
func (v View) Explain(key string, edited *guidon.Flag, e Entity) (*analysis.Explanation, error) {
	if err := CheckExplain(key, e); err != nil {
		return nil, err
	}
	if edited == nil {
		return analysis.Explain(v.Snapshot, key, e.ID, e.Context)
	}
	f, err := editedObject(v, flagObjects, key, edited)
	if err != nil {
		return nil, err
	}
	return analysis.Explain(v.with(f), key, e.ID, e.Context)
}

// FlagResult is the result of a flag for an entity.
type FlagResult struct {
	Flag        *guidon.Flag
	Explanation *analysis.Explanation // only the result and the step that decided it; nil if Err is not
	Err         error
}

// ExplainFlags evaluates the flags of the window for the entity, in order of their names. It
// also returns how many flags there are. The errors are those of [CheckExplainFlags] and of the
// context.
func (v View) ExplainFlags(ctx context.Context, e Entity, w Window) ([]FlagResult, int, error) {
	if err := CheckExplainFlags(e, w); err != nil {
		return nil, 0, err
	}
	c := catalogs.Of(v.Snapshot)
	rows := c.order(FlagsByName).Part(int(w.Offset), w.size())
	results := make([]FlagResult, len(rows))
	for i, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		r := &results[i]
		r.Flag = row.flag
		r.Explanation, r.Err = analysis.Decide(v.Snapshot, r.Flag.Key, e.ID, e.Context)
	}
	return results, c.byKey.Len(), nil
}

// ExplainBatch evaluates a flag for entities, in order. The explanations have only the results
// and what decided them. It returns the errors of [CheckExplain], of [analysis.Decide]
// and of the context.
func (v View) ExplainBatch(ctx context.Context, key string, entities []Entity) ([]*analysis.Explanation, error) {
	if err := CheckExplain(key, entities...); err != nil {
		return nil, err
	}
	explanations := make([]*analysis.Explanation, len(entities))
	for i, e := range entities {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if explanations[i], err = analysis.Decide(v.Snapshot, key, e.ID, e.Context); err != nil {
			return nil, err
		}
	}
	return explanations, nil
}

// ExplainSegment reports whether the entity belongs to the segment or, if edited is not nil, to
// the segment that saving it would result in; then the segment need not exist. It returns the
// errors of [CheckExplain] and of [analysis.ExplainSegment], NotFound if the segment does not
// exist, and InvalidArgument with the problems of the edited segment.
func (v View) ExplainSegment(key string, edited *guidon.Segment, e Entity) (*analysis.ExplainedSegment, error) {
	if err := CheckExplain(key, e); err != nil {
		return nil, err
	}
	segment, err := v.Segment(key)
	if edited != nil {
		segment, err = editedObject(v, segmentObjects, key, edited)
	}
	if err != nil {
		return nil, err
	}
	return analysis.ExplainSegment(segment, e.ID, e.Context)
}

// CheckExplain checks a request for explanations. It returns InvalidArgument if the key is
// empty or a context has more than 1000 properties, and TooLarge for more than [MaxExplained]
// entities.
func CheckExplain(key string, entities ...Entity) error {
	if err := NotEmpty("key", key); err != nil {
		return err
	}
	if len(entities) > MaxExplained {
		return guidon.Errorf(guidon.TooLarge, "invalid field entities: must not contain more than %d elements", MaxExplained)
	}
	for _, e := range entities {
		if err := e.check(); err != nil {
			return err
		}
	}
	return nil
}

// CheckExplainFlags checks a request to evaluate flags for an entity. It returns
// InvalidArgument if the context has more than 1000 properties, or if the window breaks a
// rule.
func CheckExplainFlags(e Entity, w Window) error {
	return cmp.Or(e.check(), w.Validate())
}

func (e Entity) check() error {
	if len(e.Context) > maxExplainedContext {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field context: must not have more than %d properties", maxExplainedContext)
	}
	return nil
}
