package flag

import (
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// getReview redirects to the flag: there is nothing to review without a draft, which is in a
// form.
func (p pages) getReview(v *page.Visit) error {
	v.Redirect(page.Below("namespaces", v.Key(), "flags", v.Variable("flag")))
	return nil
}

// postReview responds to a draft of any tab.
func (p pages) postReview(v *page.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	for _, t := range []*tab{targetingTab, variantsTab, detailsTab, restoreTab} {
		if form.Get("tab") != t.name {
			continue
		}
		e, err := p.readEdit(v, t)
		if err != nil {
			return err
		}
		a := page.ActionOf(form)
		if a.Verb == "" {
			a.Verb = "review"
		}
		return e.carryOut(a, form)
	}
	return guidon.Errorf(guidon.InvalidArgument, "invalid field tab: must be the name of a tab")
}

// reviewPage is the model of the page that reviews a draft.
type reviewPage struct {
	*edit
	differences []difference
	effect      []string
	lines       []diffLine
	long        bool // there are more lines
}

// review shows the changes that saving the draft would make.
func (e *edit) review(status int) error {
	g, err := readSegments(e.v, e.v.Key(), e.editor.segmentKeys())
	if err != nil {
		return err
	}
	r := reviewPage{edit: e, differences: e.editor.differences(g), effect: e.effect()}
	if r.lines, r.long, err = diffLines(e.base, e.editor.result()); err != nil {
		return err
	}
	e.v.Reply(status, e.plainPage("Review your change", reviewMain(r)))
	return nil
}

// diffLine is a line of the difference of two documents.
type diffLine struct{ class, sign, text string }

// maxDiffLines limits the lines that are shown.
const maxDiffLines = 400

// maxDiffLine limits the length of a line, in bytes: attachments can have 1 MB.
const maxDiffLine = 2 << 10

// diffLines returns the difference between two states of a flag, as exported.
func diffLines(before, after *guidonv1.DocumentFlag) (lines []diffLine, long bool, err error) {
	text, err := document.DiffObjects("before", documentOf(before), "after", documentOf(after))
	if err != nil {
		return nil, false, err
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(all) < 4 {
		return nil, false, nil
	}
	all = all[3:] // the command, and the names of both
	if len(all) > maxDiffLines {
		all, long = all[:maxDiffLines], true
	}
	for _, line := range all {
		if len(line) > maxDiffLine {
			line = strings.ToValidUTF8(line[:maxDiffLine], "") + "…"
		}
		switch {
		case strings.HasPrefix(line, "+"):
			lines = append(lines, diffLine{"add", "+", line[1:]})
		case strings.HasPrefix(line, "-"):
			lines = append(lines, diffLine{"del", "−", line[1:]})
		case strings.HasPrefix(line, "@@"):
			lines = append(lines, diffLine{"hunk", "", line})
		default:
			lines = append(lines, diffLine{"", "", strings.TrimPrefix(line, " ")})
		}
	}
	return lines, long, nil
}

func documentOf(f *guidonv1.DocumentFlag) *service.Document {
	return &service.Document{Flags: []*service.DocumentFlag{convert.DocumentFlagOf(f)}}
}
