package playground

import (
	"cmp"
	"strconv"

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
	Rows     []listRow
	Total    int
	First    int
	Previous int // offset, or -1
	Next     int // offset, or -1
	At       string
}

type listRow struct {
	Key, Name string
	Address   string
	Variant   bool
	Outcome   outcome
	Reason    string
	Failed    string
}

// askAll evaluates a page of the flags.
func (m *model) askAll(v *page.Visit, at state, context map[string]string) error {
	found, err := page.ExplainFlags.Run(v, &guidonv1.ExplainFlagsRequest{
		NamespaceKey: at.Reference, EntityId: m.form.Entity, Context: context, Offset: int32(m.form.Offset), Limit: perPage, // #nosec G115 -- checked
	})
	if err != nil {
		return m.fail(err)
	}
	m.list = &list{
		Total: int(found.GetTotalCount()), First: m.form.Offset + 1, Previous: -1, Next: -1,
		At: "revision " + strconv.FormatInt(at.Revision, 10),
	}
	if m.form.Offset > 0 {
		m.list.Previous = max(0, m.form.Offset-perPage)
	}
	if found.NextOffset != nil {
		m.list.Next = int(found.GetNextOffset())
	}
	for _, r := range found.GetResults() {
		m.list.Rows = append(m.list.Rows, rowOf(v, r))
	}
	return nil
}

func rowOf(v *page.Visit, r *guidonv1.FlagResult) listRow {
	row := listRow{
		Key: r.GetFlagKey(), Name: cmp.Or(r.GetFlagName(), r.GetFlagKey()), Address: v.In("flags", r.GetFlagKey()),
		Variant: r.GetFlagType() == flipt.FlagType_VARIANT_FLAG_TYPE, Failed: r.GetError(),
	}
	switch {
	case !row.Variant:
		row.Outcome = value(r.GetEnabled())
	case r.GetVariantKey() == "":
		row.Outcome = outcome{"c-none", "Nothing"}
	default:
		row.Outcome = outcome{part.VariantColor(int(r.GetVariantIndex())), r.GetVariantKey()}
	}
	switch {
	case r.GetDecidedBy() > 0:
		row.Reason = ruleName(r.GetDecidedBy())
	case r.GetReason() == evaluation.EvaluationReason_FLAG_DISABLED_EVALUATION_REASON:
		row.Reason = "off"
	default:
		row.Reason = "everyone else"
	}
	return row
}

// bounds says which flags these are.
func (l *list) bounds() string {
	if len(l.Rows) == 0 {
		return "None of " + page.Count(l.Total, "flag")
	}
	return page.Number(l.First) + "–" + page.Number(l.First+len(l.Rows)-1) + " of " + page.Number(l.Total)
}
