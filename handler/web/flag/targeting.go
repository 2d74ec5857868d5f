package flag

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/web/segment"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// targetingTab edits the targeting of a flag.
var targetingTab = &tab{name: "targeting", read: readDraft, show: showTargeting}

// getTargeting shows the targeting. A rule of the query is open.
func getTargeting(v *page.Visit, s *subject) error {
	d := newDraft(s.flag)
	if s.mayEdit() {
		d.openAt(v.Query().Get("edit"))
	}
	return newEdit(s, targetingTab, d).Show(http.StatusOK, nil)
}

// openAt opens the rule with the number, or everyone else.
func (d *draft) openAt(number string) {
	i, err := strconv.Atoi(number)
	switch {
	case number == "else" || err == nil && i == len(d.rules)+1: // everyone else comes last
		d.openElse = true
	case err == nil && i >= 1 && i <= len(d.rules):
		d.rules[i-1].open = true
	}
}

// ladder is the page of targetingTab.
type ladder struct {
	*edit
	draft    *draft
	segments segments
	stored   remarks
	now      remarks // those of the draft
	offered  []namedObject
	known    segment.Known
	flags    []namedObject // that the box for required ones offers
	required map[string]*guidonv1.DocumentFlag
	uses     *guidonv1.FlagUseList    // the flags that require the stored one
	coming   []*guidonv1.FlagBoundary // of the stored flag
	editable bool
}

func showTargeting(e *edit, stored remarks) (templ.Component, error) {
	d := e.editor.(*draft)
	l := &ladder{edit: e, draft: d, stored: stored, now: stored, editable: e.mayEdit() && d.fits()}
	return targeting(l), l.read()
}

// read reads the data that the page shows besides the draft.
func (l *ladder) read() (err error) {
	keys := append(page.SegmentKeys(l.flag), l.draft.segmentKeys()...)
	slices.Sort(keys)
	if l.segments, err = readSegments(l.v, l.namespaceKey(), slices.Compact(keys)); err != nil {
		return err
	}
	if err = l.readRequired(); err != nil {
		return err
	}
	if len(l.unsaved) > 0 {
		l.now = remarks{l.draft, l.preview()}
	} else if l.stale() {
		l.now = remarks{l.draft, nil}
	}
	if l.anyOpen() {
		if l.offered, err = offered(eachSegment(l.v, l.v.Key()), ""); err != nil {
			return err
		}
		if l.known, err = segment.ReadKnown(l.v); err != nil {
			return err
		}
	}
	if l.asksNeeds() || slices.ContainsFunc(l.draft.rules, func(s rule) bool { return s.needing() }) {
		if l.flags, err = offered(eachFlag(l.v), l.key); err != nil {
			return err
		}
	}
	if l.uses, err = page.ListFlagUses.Run(l.v, &guidonv1.ListFlagUsesRequest{NamespaceKey: l.namespaceKey(), Key: l.key, Limit: maxRequiring}); err != nil {
		return err
	}
	if l.at == 0 {
		timeline, err := page.GetFlagTimeline.Run(l.v, &guidonv1.GetFlagTimelineRequest{NamespaceKey: l.v.Key(), Key: l.key})
		if err != nil {
			return err
		}
		l.coming = timeline.GetBoundaries()
	}
	return nil
}

// preview returns the reach of the draft, or nil if it has no valid result yet.
func (l *ladder) preview() *guidonv1.FlagReach {
	if len(l.draft.check()) > 0 {
		return nil
	}
	r, err := page.PreviewFlagReach.Run(l.v, &guidonv1.PreviewFlagRequest{NamespaceKey: l.v.Key(), Key: l.key, Flag: l.draft.result()})
	if err != nil {
		return nil
	}
	return r
}

// remarks returns the remarks about the flag as it is stored.
func (s *subject) remarks() (remarks, error) {
	r, err := page.GetFlagReach.Run(s.v, &guidonv1.GetFlagReachRequest{NamespaceKey: s.namespaceKey(), Key: s.key})
	if err == nil {
		s.state, s.own = page.StateOf(r.GetState()), page.OwnStateOf(r.GetState(), r.OwnState)
	}
	return remarks{newDraft(s.flag), r}, err
}

// summary returns what the flag is and does in short, or nil if it was deleted just now.
func (s *subject) summary() (*guidonv1.FlagSummary, error) {
	list, err := page.ListFlagSummaries.Run(s.v, &guidonv1.ListFlagSummariesRequest{NamespaceKey: s.namespaceKey(), Keys: []string{s.key}})
	if err != nil || len(list.GetFlags()) == 0 {
		return nil, err
	}
	return list.GetFlags()[0], nil
}

// maxRequiring limits the flags that a page lists because they require its own.
const maxRequiring = 10

// box is a field that adds an object by its key or name.
type box struct{ at, id, name, label, hint, noun, do, typed string }

func boxForSegments(i int, id, label, hint, typed string) box {
	return box{ruleID(i, ""), id, prefix(i), label, hint, "segment", "segment:" + strconv.Itoa(i), typed}
}

// isOpen reports whether a rule shows its fields.
func (l *ladder) isOpen(i int) bool {
	return l.editable && (l.draft.rules[i].open || l.problems.Within(ruleID(i, "")) || l.problems.Within(prefix(i)))
}

// constraintFields is how many fields of a form a constraint of an open rule has at most.
const constraintFields = 10

// stepFields is how many fields a step of a ramp of an open rule has.
const stepFields = 3

// fits reports whether a form can have the draft, whichever of its parts are open.
func (d *draft) fits() bool {
	fields, size := len(d.fields()), 0
	for _, s := range d.rules {
		size += len(url.QueryEscape(s.encode()))
		for _, g := range s.Groups {
			fields += len(g.Constraints) * constraintFields
		}
		if s.Ramp != nil {
			fields += len(s.Ramp.Steps) * stepFields
		}
		fields += len(s.needFields(""))
	}
	return len(d.rules) <= maxRules && fields <= maxFields && size <= page.MaxForm/2
}

func (l *ladder) anyOpen() bool {
	if l.asksNeeds() {
		return true
	}
	for i := range l.draft.rules {
		if l.isOpen(i) {
			return true
		}
	}
	return false
}

// bar reports whether the page has the bar to save. Without scripts, what is typed into an
// open rule is not known yet.
func (l *ladder) bar() bool {
	return l.editable && (len(l.unsaved) > 0 || l.anyOpen() || l.draft.openElse || len(l.problems) > 0)
}

// unsavedWords returns how many changes are not saved.
func unsavedWords(unsaved []change.Difference) string {
	n := review.CountChanges(unsaved)
	if n == 0 {
		return "No changes yet"
	}
	return page.Count(n, "unsaved change")
}

// shown returns the rules that the page shows.
func (l *ladder) shown() []rule { return l.draft.rules[:min(len(l.draft.rules), maxRules)] }

// ruleShares returns the shares of a rule for a bar, with the result of the rest.
func (l *ladder) ruleShares(s rule) (all []part.Share) {
	sum := 0.0
	for _, p := range s.given() {
		n, _ := parseShare(p.text)
		if n == 0 {
			continue
		}
		sum += float64(n)
		key := l.draft.base.GetVariants()[p.variant].GetKey()
		all = append(all, part.Share{Name: key, Color: l.draft.color(key), Percent: float64(n), Text: page.Percent(float64(n))})
	}
	if rest := rounded(100 - sum); rest > 0 {
		all = append(all, part.Share{Name: l.draft.outcomeName(l.draft.other), Color: "c-none", Percent: rest, Text: page.Percent(rest)})
	}
	return all
}

// single returns the only variant that a rule gives, or "".
func (l *ladder) single(s rule) string {
	if given := s.given(); len(given) == 1 {
		if n, _ := parseShare(given[0].text); n == 100 {
			return l.draft.base.GetVariants()[given[0].variant].GetKey()
		}
	}
	return ""
}

// shareBar returns the bar of a boolean share: the parts on before, newly on, and the rest.
func (l *ladder) shareBar(s rule) []part.Share {
	now, problem := parseShare(s.share)
	if problem != "" {
		return nil
	}
	in, out := "on", "off"
	if !s.value {
		in, out = out, in
	}
	effective := s.Divide.effective
	after := effective(now)
	before := after
	if was, ok := l.draft.before(s); ok && was.value == s.value {
		n, _ := parseShare(was.share)
		before = effective(n)
	}
	color, rest := l.draft.color(in), l.draft.color(out)
	add := func(shares []part.Share, name, color string, n float64, soft bool) []part.Share {
		if n <= 0 {
			return shares
		}
		return append(shares, part.Share{Name: name, Color: color, Percent: n, Text: page.Percent(n), Soft: soft})
	}
	stays, moves := in, "no longer in this rule"
	if after > before {
		stays, moves = in+" before", "newly "+in
	}
	low, high := min(before, after), max(before, after)
	shares := add(add(nil, stays, color, low, false), moves, color, high-low, true)
	return add(shares, "not in this rule", rest, 100-high, false)
}

// sumWords returns the sum of the shares of a rule, and the result of the rest.
func (l *ladder) sumWords(s rule) (sum string, complete bool) {
	total := 0.0
	for _, p := range s.given() {
		n, problem := parseShare(p.text)
		if problem != "" {
			return "", false
		}
		total += float64(n)
	}
	total = rounded(total)
	if total >= 100 {
		return page.Percent(total), total == 100
	}
	return page.Percent(total) + ", " + page.Percent(rounded(100-total)) + " gets " + l.draft.outcomeName(l.draft.other), false
}

// maxInWho limits the segments that a closed rule names.
const maxInWho = 12

// maxRests limits the buttons that give the rest to a variant.
const maxRests = 8

// shareNumber returns the share that was typed, or 0.
func shareNumber(text string) float32 {
	n, _ := parseShare(text)
	return n
}

// everyoneHint says that everyone is in a segment of the rule, or "".
func (l *ladder) everyoneHint(s rule) string {
	for _, key := range s.segments {
		if g := l.segments.of(key); g.everyone() {
			return g.name + " has no constraints, so everyone who gets here is in it."
		}
	}
	return ""
}
