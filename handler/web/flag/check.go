package flag

import (
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// check returns the problems of the draft.
func (d *draft) check() (problems part.Problems) {
	for i := range d.steps {
		problems = append(problems, d.checkStep(i)...)
	}
	return problems
}

// checkStep returns the problems of a step. An unchanged step is not checked: the visitor
// does not save it.
func (d *draft) checkStep(i int) (problems part.Problems) {
	s := d.steps[i]
	if was, ok := d.before(s); ok && s.same(was) {
		return nil
	}
	noun := stepNoun(d.boolean)
	where := strings.ToUpper(noun[:1]) + noun[1:] + " " + strconv.Itoa(i+1)
	add := func(id, message string) {
		problems = append(problems, part.Problem{Field: stepID(i, id), Message: message, Brief: where + ": " + message})
	}
	if s.kind == kindSegment && len(s.segments) == 0 {
		add("add", "Add a segment, or remove this "+noun+".")
	}
	if s.kind == kindShare {
		if _, problem := parseShare(s.share); problem != "" {
			add("share", problem)
		}
		return problems
	}
	sum, faulty := 0.0, false
	for _, p := range s.given() {
		n, problem := parseShare(p.text)
		if problem != "" {
			faulty = true
			add("share-"+strconv.Itoa(p.variant), problem)
		}
		sum += float64(n)
	}
	if over := round2(sum - 100); !faulty && over > 0 && len(s.shares) > 0 {
		add("share-"+strconv.Itoa(s.given()[0].variant), "These are "+page.Percent(sum)+" together: take "+page.Percent(over)+" away.")
	}
	return problems
}
