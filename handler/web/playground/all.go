package playground

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// perPage is the number of flags that are evaluated together.
const perPage = 50

// list has the results of an entity for the flags of the namespace.
type list struct {
	*guidonv1.ExplainFlagsResponse
	offset int
	at     string
}

// askAll evaluates a page of the flags.
func (m *model) askAll(v *page.Visit, at state, context map[string]string) error {
	found, err := page.ExplainFlags.Run(v, &guidonv1.ExplainFlagsRequest{
		NamespaceKey: at.Reference, EntityId: m.form.Entity, Context: context, Offset: int32(m.form.Offset), Limit: perPage, // #nosec G115 -- checked
	})
	if err != nil {
		return m.fail(err)
	}
	m.list = &list{found, m.form.Offset, "revision " + page.Revision(at.Revision)}
	return nil
}

// outcomeOf returns the result of a flag.
func outcomeOf(r *guidonv1.FlagResult) outcome {
	switch {
	case r.GetFlagType() != flipt.FlagType_VARIANT_FLAG_TYPE:
		return value(r.GetEnabled())
	case r.GetVariantKey() == "":
		return outcome{"c-none", "Nothing"}
	}
	return outcome{part.VariantColor(int(r.GetVariantIndex())), r.GetVariantKey()}
}

// reasonOf returns what decided about the result of a flag.
func reasonOf(r *guidonv1.FlagResult) string {
	switch {
	case r.GetDecidedBy() > 0:
		return ruleName(r.GetDecidedBy())
	case r.GetReason() == evaluation.EvaluationReason_FLAG_DISABLED_EVALUATION_REASON:
		return "off"
	}
	return "everyone else"
}

// bounds says which flags these are.
func (l *list) bounds() string {
	total, n := int(l.GetTotalCount()), len(l.GetResults())
	if n == 0 {
		return "None of " + page.Count(total, "flag")
	}
	return page.Number(l.offset+1) + "–" + page.Number(l.offset+n) + " of " + page.Number(total)
}
