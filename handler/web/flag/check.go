package flag

import (
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// check returns the problems of the draft.
func (d *draft) check() (problems part.Problems) {
	problems = d.checkNeeds()
	for i := range d.rules {
		problems = append(problems, d.checkRule(i)...)
	}
	return problems
}

// checkNeeds returns the problems of the flags that the flag itself requires.
func (d *draft) checkNeeds() (problems part.Problems) {
	d.needs.check(problems.Add)
	return problems
}

// checkRule returns the problems of a rule. An unchanged rule is not checked: the visitor
// does not save it.
func (d *draft) checkRule(i int) (problems part.Problems) {
	s := d.rules[i]
	if was, ok := d.before(s); ok && s.same(was) {
		return nil
	}
	add := func(id, message string) {
		if message != "" {
			problems = append(problems, part.Problem{Field: ruleID(i, id), Message: message, Brief: d.label(i) + ": " + message})
		}
	}
	constraints := d.checkConditions(i, add)
	problems = append(problems, constraints...)
	if s.kind == kindSegment && len(s.segments)+len(s.Groups) == 0 && !s.Everyone {
		add("add", "Add a segment, or remove this rule.")
	}
	if s.kind == kindShare {
		_, problem := parseShare(s.share)
		add("share", problem)
		return problems
	}
	sum, faulty, first := 0.0, false, -1
	for j, p := range d.everyShare(s) {
		if strings.TrimSpace(p.text) == "" {
			continue
		}
		n, problem := parseShare(p.text)
		if problem != "" {
			faulty = true
			add("share-"+strconv.Itoa(j), problem)
		}
		if first < 0 {
			first = j
		}
		sum += float64(n)
	}
	if over := rounded(sum - 100); !faulty && over > 0 {
		add("share-"+strconv.Itoa(first), "These are "+page.Percent(sum)+" together: take "+page.Percent(over)+" away.")
	}
	return problems
}
