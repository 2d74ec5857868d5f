package flag

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// detailsTab edits the name, description, owner and other metadata of a flag.
var detailsTab = &tab{path: []string{"details"}, name: "details", read: readDetails, show: showDetails}

// details is the draft of detailsTab.
type details struct {
	base                *guidonv1.DocumentFlag
	name, description   string
	enabled             bool   // of variant flags
	owner, review, tags string // of the metadata
	rows                []metaRow
}

// metaRow is a member of the metadata without a field of its own.
type metaRow struct {
	was   string // the key when the visitor began; "" for a new row
	key   string
	value string
}

// maxRows limits the rows of metadata.
const maxRows = 200

func newDetails(base *guidonv1.DocumentFlag) *details {
	d := &details{base: base, name: base.GetName(), description: base.GetDescription(), enabled: base.GetEnabled()}
	for _, m := range membersOf(base) {
		if target := d.own(m); target != nil {
			*target = ownText(m)
			continue
		}
		d.rows = append(d.rows, metaRow{m.Key, m.Key, m.Written()})
	}
	return d
}

// own returns the field for a member, or nil if it is in a row.
func (d *details) own(m page.Member) *string {
	if _, ok := m.Text(); ok {
		switch m.Key {
		case "owner":
			return &d.owner
		case "review":
			return &d.review
		}
	}
	if items, ok := m.List(); ok && m.Key == "tags" && !slices.ContainsFunc(items, func(tag string) bool {
		return tag == "" || tag != strings.TrimSpace(tag) || strings.ContainsAny(tag, ",\r\n")
	}) {
		return &d.tags
	}
	return nil
}

// ownText returns the text of a member in a field of its own.
func ownText(m page.Member) string {
	if items, ok := m.List(); ok {
		return strings.Join(items, ", ")
	}
	text, _ := m.Text()
	return text
}

// rawValue returns the JSON of a typed value, and the problem if it is invalid.
func rawValue(text string) (raw, problem string) {
	if strings.TrimSpace(text) == "" {
		return "", "Write a value, such as text, 12 or true; or remove the row."
	}
	return page.MetadataValue(text)
}

func readDetails(e *edit, form url.Values) (editor, error) {
	d := &details{
		base: e.base, name: form.Get("name"), description: page.Lines(e.base.GetDescription(), form.Get("description")),
		enabled: e.base.GetEnabled(), owner: form.Get("owner"), review: form.Get("review"), tags: form.Get("tags"),
	}
	if !isBoolean(e.base) && form.Has("enabled") {
		d.enabled = form.Get("enabled") == "on"
	}
	for i := 0; form.Has(metaName(i, "key")); i++ {
		if i == maxRows {
			return nil, guidon.Errorf(guidon.TooLarge, "more than %d rows of metadata cannot be edited in a form", maxRows)
		}
		d.rows = append(d.rows, metaRow{form.Get(metaName(i, "was")), form.Get(metaName(i, "key")), form.Get(metaName(i, "value"))})
	}
	return d, nil
}

func metaName(i int, name string) string { return "meta." + strconv.Itoa(i) + "." + name }
func metaID(i int, name string) string   { return "meta-" + strconv.Itoa(i) + "-" + name }

func (d *details) act(_ *page.Visit, a page.Action) (part.Problems, error) {
	switch a.Verb {
	case "row":
		if len(d.rows) < maxRows {
			d.rows = append(d.rows, metaRow{})
		}
	case "unrow":
		if i, ok := a.Index(0, len(d.rows)); ok {
			d.rows = slices.Delete(d.rows, i, i+1)
		}
	}
	return nil, nil
}

func (d *details) check() (problems part.Problems) {
	problems.Add("name", page.CheckText(d.name, "A name is needed."))
	if d.review != "" && d.review != metadataText(d.base, "review") {
		if _, err := time.Parse(time.DateOnly, strings.TrimSpace(d.review)); err != nil {
			problems = append(problems, part.Problem{
				Field: "review", Message: "Write a date such as 2026-12-01.", Brief: "Review date: write a date such as 2026-12-01.",
			})
		}
	}
	keys := map[string]bool{"owner": d.owner != "", "review": d.review != "", "tags": len(d.tagList()) > 0}
	for i, r := range d.rows {
		if r.blank() {
			continue
		}
		switch {
		case r.key == "":
			problems.Add(metaID(i, "key"), "A key is needed.")
		case keys[r.key]:
			problems.Add(metaID(i, "key"), "There is another value for "+r.key+".")
		}
		keys[r.key] = true
		if _, problem := rawValue(r.value); problem != "" {
			problems = append(problems, part.Problem{Field: metaID(i, "value"), Message: problem, Brief: "Metadata " + r.key + ": " + problem})
		}
	}
	return problems
}

// blank reports whether the row is new and nothing was typed.
func (r metaRow) blank() bool { return r.was == "" && r.key == "" && strings.TrimSpace(r.value) == "" }

// tagList returns the tags.
func (d *details) tagList() (tags []string) {
	for tag := range strings.SplitSeq(d.tags, ",") {
		if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

func (d *details) result() *guidonv1.DocumentFlag {
	f := proto.CloneOf(d.base)
	f.Name, f.Description, f.Enabled = d.name, d.description, d.enabled
	f.Metadata = page.ObjectOf(d.members())
	return f
}

// members returns the metadata: existing members in their order, then new ones.
func (d *details) members() (all []page.Member) {
	fields := []page.Member{{Key: "owner"}, {Key: "review"}, {Key: "tags"}}
	if d.owner != "" {
		fields[0].Raw = page.JSONText(d.owner)
	}
	if d.review != "" {
		fields[1].Raw = page.JSONText(strings.TrimSpace(d.review))
	}
	if tags := d.tagList(); len(tags) > 0 {
		fields[2].Raw = page.JSONText(tags)
	}
	rows := slices.Clone(d.rows)
	take := func(m page.Member) {
		if m.Raw != "" {
			all = append(all, m)
		}
	}
	for _, m := range membersOf(d.base) {
		if d.own(m) != nil {
			i := slices.IndexFunc(fields, func(f page.Member) bool { return f.Key == m.Key })
			if i >= 0 {
				if ownText(page.Member{Raw: fields[i].Raw}) == ownText(m) {
					fields[i].Raw = m.Raw
				}
				take(fields[i])
				fields = slices.Delete(fields, i, i+1)
			}
			continue
		}
		if i := slices.IndexFunc(rows, func(r metaRow) bool { return r.was == m.Key }); i >= 0 {
			take(rows[i].member(m))
			rows = slices.Delete(rows, i, i+1)
		}
	}
	for _, f := range fields {
		take(f)
	}
	for _, r := range rows {
		if !r.blank() {
			take(r.member(page.Member{}))
		}
	}
	return all
}

// member returns the member that the row stands for, which was one before.
func (r metaRow) member(was page.Member) page.Member {
	if was.Raw != "" && was.Written() == r.value {
		return page.Member{Key: r.key, Raw: was.Raw}
	}
	raw, _ := rawValue(r.value)
	return page.Member{Key: r.key, Raw: raw}
}

func (d *details) fields() (all []field) {
	all = []field{{"name", d.name}, {"description", d.description}, {"owner", d.owner}, {"review", d.review}, {"tags", d.tags}}
	if !isBoolean(d.base) {
		all = append(all, field{"enabled", change.OnOff(d.enabled)})
	}
	for i, r := range d.rows {
		all = append(all, field{metaName(i, "was"), r.was}, field{metaName(i, "key"), r.key}, field{metaName(i, "value"), r.value})
	}
	return all
}

// over returns the draft as one over another state of the flag.
func (d *details) over(base *guidonv1.DocumentFlag) *details {
	out := *d
	out.base = base
	present := membersOf(base)
	out.rows = slices.Clone(d.rows)
	for i, r := range out.rows {
		if !slices.ContainsFunc(present, func(m page.Member) bool { return m.Key == r.was }) {
			out.rows[i].was = ""
		}
	}
	return &out
}

// getDetails shows the details of the flag.
func getDetails(_ *page.Visit, s *subject) error {
	return newEdit(s, detailsTab, newDetails(s.flag)).Show(http.StatusOK, nil)
}

// detailsPage is the page of a draft of details.
type detailsPage struct {
	*edit
	draft *details
}

func showDetails(e *edit, _ remarks) (templ.Component, error) {
	return detailsMain(&detailsPage{e, e.editor.(*details)}), nil
}
