package flag

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// variantsTab edits the variants of a flag.
var variantsTab = &tab{path: []string{"variants"}, name: "variants", read: readVariants, show: showVariants}

// variants is the draft of variantsTab.
type variants struct {
	base  *guidonv1.DocumentFlag
	rows  []variantRow
	other int // the row of the default variant, or -1
}

// variantRow is a variant in a draft.
type variantRow struct {
	was         string // the key when the visitor began; "" for a new one
	key, name   string
	description string
	attachment  string
	open        bool
	gone        bool   // to be deleted
	goes        string // the row that gets its shares then, as a number; "" for none
}

// Limits of the variants.
const (
	maxVariants   = 200  // that a page shows
	maxAttachment = 1000 // KB
)

func newVariants(base *guidonv1.DocumentFlag) *variants {
	d := &variants{base: base, other: -1}
	for i, v := range base.GetVariants() {
		d.rows = append(d.rows, variantRow{
			was: v.GetKey(), key: v.GetKey(), name: v.GetName(), description: v.GetDescription(), attachment: v.GetAttachment(),
		})
		if v.GetDefault() {
			d.other = i
		}
	}
	return d
}

func variantName(i int, name string) string { return "variant." + strconv.Itoa(i) + "." + name }
func variantID(i int, name string) string   { return "variant-" + strconv.Itoa(i) + "-" + name }

// before returns the variant as it was when the visitor began, or nil if it is new.
func (d *variants) before(r variantRow) *guidonv1.DocumentVariant {
	if i := variantIndex(d.base, r.was); r.was != "" && i >= 0 {
		return d.base.GetVariants()[i]
	}
	return nil
}

func readVariants(e *edit, form url.Values) (editor, error) {
	d := &variants{base: e.base, other: -1}
	for i := 0; form.Has(variantName(i, "was")); i++ {
		if i == maxVariants {
			return nil, guidon.Errorf(guidon.TooLarge, "more than %d variants cannot be edited in a form", maxVariants)
		}
		d.rows = append(d.rows, d.readRow(i, form))
	}
	if other, err := strconv.Atoi(form.Get("default")); err == nil && other >= 0 && other < len(d.rows) && !d.rows[other].gone {
		d.other = other
	}
	return d, nil
}

// readRow returns a row. One that is not open and not changed has no fields but its key.
func (d *variants) readRow(i int, form url.Values) variantRow {
	get := func(name string) string { return form.Get(variantName(i, name)) }
	r := variantRow{was: get("was"), open: get("open") != "", gone: get("gone") != "", goes: get("goes")}
	was := d.before(r)
	if was != nil && !form.Has(variantName(i, "key")) {
		r.key, r.name, r.description, r.attachment = was.GetKey(), was.GetName(), was.GetDescription(), was.GetAttachment()
		return r
	}
	if was == nil {
		r.was = ""
	}
	r.key, r.name = get("key"), page.Line(was.GetName(), get("name"))
	r.description, r.attachment = page.Lines(was.GetDescription(), get("description")), page.Lines("", get("attachment"))
	if page.CompactJSON(r.attachment) == was.GetAttachment() && !r.open {
		r.attachment = was.GetAttachment()
	}
	return r
}

// changed reports whether the fields of the row are not those of the base.
func (d *variants) changed(r variantRow) bool {
	was := d.before(r)
	return was == nil || r.key != was.GetKey() || r.name != was.GetName() || r.description != was.GetDescription() ||
		page.CompactJSON(r.attachment) != page.CompactJSON(was.GetAttachment())
}

func (d *variants) act(_ *page.Visit, a page.Action) (part.Problems, error) {
	if a.Verb == "add" && len(d.rows) < maxVariants {
		d.rows = append(d.rows, variantRow{open: true})
		return nil, nil
	}
	i, ok := a.Index(0, len(d.rows))
	if !ok {
		return nil, nil
	}
	switch r := &d.rows[i]; a.Verb {
	case "edit":
		r.open = true
	case "done":
		problems := d.checkRow(i)
		r.open = len(problems) > 0
		return problems, nil
	case "format":
		if problem := page.JSONFault(r.attachment); problem != "" && strings.TrimSpace(r.attachment) != "" {
			return part.Problems{{Field: variantID(i, "attachment"), Message: problem}}, nil
		}
		r.attachment = indented(r.attachment)
	case "revert":
		if was := d.before(*r); was != nil {
			r.key, r.name, r.description, r.attachment = was.GetKey(), was.GetName(), was.GetDescription(), was.GetAttachment()
		}
	case "remove":
		d.remove(i)
	case "keep":
		r.gone, r.goes = false, ""
	}
	return nil, nil
}

// remove deletes a row. One that existed stays, for the visitor to say where its shares go.
func (d *variants) remove(i int) {
	if d.other == i {
		d.other = -1
	}
	if d.rows[i].was != "" {
		d.rows[i].gone, d.rows[i].open = true, false
		return
	}
	d.rows = slices.Delete(d.rows, i, i+1)
	if d.other > i {
		d.other--
	}
	for j := range d.rows { // the rows after it have other numbers now
		if goes, err := strconv.Atoi(d.rows[j].goes); err == nil && goes >= i {
			d.rows[j].goes = ""
			if goes > i {
				d.rows[j].goes = strconv.Itoa(goes - 1)
			}
		}
	}
}

func (d *variants) check() (problems part.Problems) {
	for i := range d.rows {
		problems = append(problems, d.checkRow(i)...)
	}
	return problems
}

func (d *variants) checkRow(i int) (problems part.Problems) {
	r := d.rows[i]
	if r.gone || !d.changed(r) {
		return nil
	}
	add := func(id, message string) {
		if message != "" {
			problems = append(problems, part.Problem{
				Field: variantID(i, id), Message: message, Brief: "Variant " + strconv.Itoa(i+1) + ": " + message,
			})
		}
	}
	add("key", page.CheckText(r.key, "A key is needed."))
	if n := slices.IndexFunc(d.rows, func(o variantRow) bool { return !o.gone && o.key == r.key }); n >= 0 && n < i && r.key != "" {
		add("key", "Variant "+strconv.Itoa(n+1)+" has this key. Take another one.")
	}
	add("name", page.TooLong(r.name, page.MaxText))
	if strings.TrimSpace(r.attachment) == "" {
		return problems
	}
	if problem := page.JSONFault(r.attachment); problem != "" {
		add("attachment", problem)
	} else if size := len(r.attachment); size > maxAttachment*1024 {
		add("attachment", "1,000 KB at most, this has "+page.Number((size+1023)/1024)+" KB.")
	}
	return problems
}

func (d *variants) result() *guidonv1.DocumentFlag {
	f := proto.CloneOf(d.base)
	f.Variants = nil
	for i, r := range d.rows {
		if r.gone {
			continue
		}
		v := &guidonv1.DocumentVariant{
			Default: i == d.other, Key: r.key, Name: r.name, Description: r.description, Attachment: strings.TrimSpace(r.attachment),
		}
		if was := d.before(r); was != nil && !d.changed(r) {
			v.Attachment = was.GetAttachment()
		}
		f.Variants = append(f.Variants, v)
	}
	for _, rule := range f.GetRules() {
		rule.Rank, rule.Distributions = 0, d.distributions(rule.GetDistributions())
	}
	return f
}

// distributions returns the shares of a rule with the new keys of the variants, and with
// those of deleted ones where they go.
func (d *variants) distributions(before []*guidonv1.DocumentDistribution) (after []*guidonv1.DocumentDistribution) {
	for _, s := range before {
		key := d.keyOf(s.GetVariant())
		if key == "" {
			continue
		}
		twin := slices.IndexFunc(after, func(a *guidonv1.DocumentDistribution) bool { return a.GetVariant() == key })
		if twin >= 0 && key != s.GetVariant() {
			after[twin].Rollout = float32(rounded(float64(after[twin].Rollout) + float64(s.GetRollout())))
			continue
		}
		after = append(after, &guidonv1.DocumentDistribution{Variant: key, Rollout: s.GetRollout()})
	}
	return d.joined(after)
}

// joined adds up shares of a variant that a deleted one's came before.
func (d *variants) joined(shares []*guidonv1.DocumentDistribution) (out []*guidonv1.DocumentDistribution) {
	for _, s := range shares {
		heir := slices.ContainsFunc(d.rows, func(r variantRow) bool { return r.gone && d.heir(r) == s.GetVariant() })
		twin := slices.IndexFunc(out, func(a *guidonv1.DocumentDistribution) bool { return a.GetVariant() == s.GetVariant() })
		if heir && twin >= 0 {
			out[twin].Rollout = float32(rounded(float64(out[twin].Rollout) + float64(s.GetRollout())))
			continue
		}
		out = append(out, s)
	}
	return out
}

// keyOf returns the key of a variant that had another one before, or that of the one that
// gets its shares; "" for none.
func (d *variants) keyOf(was string) string {
	for _, r := range d.rows {
		switch {
		case r.was != was:
		case r.gone:
			return d.heir(r)
		default:
			return r.key
		}
	}
	return ""
}

// heir returns the key of the variant that gets the shares of a deleted one, or "".
func (d *variants) heir(r variantRow) string {
	if i, err := strconv.Atoi(r.goes); err == nil && i >= 0 && i < len(d.rows) && !d.rows[i].gone {
		return d.rows[i].key
	}
	return ""
}

// usedBy returns the numbers of the rules that give a variant.
func (d *variants) usedBy(key string) (rules []int) {
	for i, r := range d.base.GetRules() {
		if slices.ContainsFunc(r.GetDistributions(), func(s *guidonv1.DocumentDistribution) bool { return s.GetVariant() == key }) {
			rules = append(rules, i+1)
		}
	}
	return rules
}

// usedByWords returns the rules that give a variant, such as "rules 1 and 3".
func (d *variants) usedByWords(key string) string {
	rules := d.usedBy(key)
	switch {
	case len(rules) == 0:
		return ""
	case len(rules) > 20:
		return page.Count(len(rules), "rule")
	}
	if len(rules) == 1 {
		return "rule " + strconv.Itoa(rules[0])
	}
	return "rules " + lists.Join(lists.Map(rules, strconv.Itoa), "and")
}

func (d *variants) fields() (all []field) {
	for i := range d.rows {
		all = append(all, d.rowFields(i)...)
	}
	if d.other >= 0 {
		all = append(all, field{"default", strconv.Itoa(d.other)})
	}
	return all
}

// rowFields returns the fields of a row that is not open. One that is as it was has no
// others, since an attachment can have 1 MB.
func (d *variants) rowFields(i int) []field {
	r := d.rows[i]
	all := []field{{variantName(i, "was"), r.was}}
	if r.gone {
		all = append(all, field{variantName(i, "gone"), "1"}, field{variantName(i, "goes"), r.goes})
	}
	if d.changed(r) {
		all = append(all, field{variantName(i, "key"), r.key}, field{variantName(i, "name"), r.name},
			field{variantName(i, "description"), r.description}, field{variantName(i, "attachment"), r.attachment})
	}
	return all
}

// over returns the variants of a merged flag as a draft over the flag as it is now. What d has open,
// calls otherwise or deletes, it has too.
func (d *variants) over(now, merged *guidonv1.DocumentFlag) *variants {
	out := newVariants(merged)
	out.base = now
	for i := range out.rows {
		r := &out.rows[i]
		if j := d.row(func(m variantRow) bool { return !m.gone && m.key == r.key }); j >= 0 {
			r.open = d.rows[j].open
			if variantIndex(now, d.rows[j].was) >= 0 {
				r.was = d.rows[j].was
			}
		}
		if variantIndex(now, r.was) < 0 {
			r.was = ""
		}
	}
	for _, v := range newVariants(now).rows {
		if out.row(func(r variantRow) bool { return r.was == v.was }) >= 0 {
			continue
		}
		v.gone = true
		if j := d.row(func(m variantRow) bool { return m.gone && m.was == v.was }); j >= 0 {
			if heir := out.row(func(r variantRow) bool { return !r.gone && r.key == d.heir(d.rows[j]) }); heir >= 0 {
				v.goes = strconv.Itoa(heir)
			}
		}
		out.rows = append(out.rows, v)
	}
	return out
}

// row returns the index of the first row that is so, or -1.
func (d *variants) row(is func(r variantRow) bool) int { return slices.IndexFunc(d.rows, is) }

// getVariants shows the variants. A row of the query is open.
func getVariants(v *page.Visit, s *subject) error {
	if s.boolean() {
		return guidon.Errorf(guidon.NotFound, "flag %q is a boolean flag, which has no variants", s.key)
	}
	d := newVariants(s.flag)
	if i, err := strconv.Atoi(v.Query().Get("edit")); err == nil && i >= 1 && i <= len(d.rows) && s.mayEdit() {
		d.rows[i-1].open = true
	}
	return newEdit(s, variantsTab, d).Show(http.StatusOK, nil)
}

// variantsPage is the page of a draft of variants.
type variantsPage struct {
	*edit
	draft    *variants
	unserved []string
	editable bool
}

func showVariants(e *edit, stored remarks) (templ.Component, error) {
	d := e.editor.(*variants)
	return variantsMain(&variantsPage{e, d, stored.reach.GetUnservedVariants(), e.mayEdit() && len(d.rows) <= maxVariants}), nil
}

// isOpen reports whether a row shows its fields.
func (d *variantsPage) isOpen(i int) bool {
	return d.editable && !d.draft.rows[i].gone && (d.draft.rows[i].open || d.problems.Within(variantID(i, "")))
}

// bar reports whether the page has the bar to save. Without scripts, a ticked default is not
// known yet, so it is always there for editors.
func (d *variantsPage) bar() bool { return d.editable && len(d.draft.rows) > 0 }

// sizeWords returns the size of an attachment.
func sizeWords(text string) string {
	size := page.Number(len(text)) + " bytes"
	if len(text) >= 1024 {
		size = page.Number((len(text)+1023)/1024) + " KB"
	}
	return size + " of 1,000 KB"
}

// keyHint describes the effect of another key on code.
func (d *variantsPage) keyHint(r variantRow) string {
	if r.was == "" || r.key == r.was {
		return ""
	}
	return "Code that looks for " + r.was + " does not find it any more. The rules follow."
}

// indented returns JSON with one member a line. Other text stays as it is.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}
