package flag

import (
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/review"
)

// act applies the button that sent the form to the draft. The problems are those of the fields
// that it needs; nothing else is checked before the draft is saved.
func (d *draft) act(v *page.Visit, a page.Action) (problems part.Problems, err error) {
	if problems, ok := d.actOnGroup(a); ok {
		return problems, nil
	}
	i, ok := a.Index(0, len(d.rules))
	switch a.Verb {
	case "add":
		return d.add(a.Text(0)), nil
	case "else":
		d.openElse = a.Text(0) == "edit"
		return nil, nil
	case "unneed":
		if a.Text(0) == "flag" {
			d.needs.remove(a)
			return nil, nil
		}
	case "segment", "need", "needs", "done", "draft", "review", "save", review.Merge:
		if problems, err = d.takeTyped(v, a.Verb == "segment" || a.Verb == "need" || a.Verb == "draft"); err != nil || len(problems) > 0 {
			return problems, err
		}
	}
	switch {
	case a.Verb == "needs":
		return d.actOnNeeds(a), nil
	case !ok:
		return nil, nil
	}
	d.actOn(i, a)
	if a.Verb == "done" {
		if problems = d.checkRule(i); len(problems) == 0 {
			d.rules[i].open = false
		}
	}
	return problems, nil
}

// actOnNeeds opens or closes the flags that the flag itself requires.
func (d *draft) actOnNeeds(a page.Action) (problems part.Problems) {
	if d.asked = a.Text(0) == "edit"; !d.asked {
		problems = d.checkNeeds()
	}
	return problems
}

// actOn applies a button of the rule.
func (d *draft) actOn(i int, a page.Action) {
	s := &d.rules[i]
	switch a.Verb {
	case "edit":
		s.open = true
	case "up":
		d.move(i, i-1)
	case "down":
		d.move(i, i+1)
	case "move":
		if to, ok := a.Index(1, len(d.rules)); ok {
			d.move(i, to)
		}
	case "remove":
		d.rules = slices.Delete(d.rules, i, i+1)
	case "duplicate":
		if len(d.rules) < maxRules {
			twin := *s
			twin.was, twin.open = -1, true
			twin.segments, twin.shares = slices.Clone(s.segments), slices.Clone(s.shares)
			d.rules = slices.Insert(d.rules, i+1, twin)
		}
	case "drop":
		if j, ok := a.Index(1, len(s.segments)); ok {
			s.segments = slices.Delete(s.segments, j, j+1)
		}
	case "admit":
		if j, ok := a.Index(1, len(s.Except)); ok {
			s.Except = slices.Delete(s.Except, j, j+1)
		}
	case "unneed":
		s.needs.remove(a)
	case "unstep":
		if s.Ramp == nil {
			return
		}
		if j, ok := a.Index(1, len(s.Ramp.Steps)); ok {
			s.Ramp.Steps = slices.Delete(s.Ramp.Steps, j, j+1)
		}
	case "with":
		d.with(s, a.Text(1))
	case "without":
		s.without(a.Text(1))
	case "even":
		d.even(s)
	case "rest":
		if j, ok := a.Index(1, len(d.base.GetVariants())); ok {
			d.giveRest(s, j)
		}
	case "saved":
		if was, ok := d.before(*s); ok {
			s.shares, s.share = was.shares, was.share
		}
	case "revert":
		if was, ok := d.before(*s); ok {
			was.open = true
			*s = was
		}
	}
}

// move moves a rule to another place, if there is one.
func (d *draft) move(from, to int) {
	if to >= 0 && to < len(d.rules) {
		s := d.rules[from]
		d.rules = slices.Insert(slices.Delete(d.rules, from, from+1), to, s)
	}
}

// add adds an open rule at the end, of the kind "segment", "if", "everyone", "share" or "except".
// The last one leaves out those in a segment, and everyone else gets it.
func (d *draft) add(what string) part.Problems {
	if len(d.rules) >= maxRules {
		return part.Problems{{Field: "ladder", Message: "A flag has at most " + strconv.Itoa(maxRules) + " rules here."}}
	}
	s := rule{was: -1, kind: kindSegment, value: true, open: true}
	switch {
	case what == kindShare && d.boolean:
		s.kind, s.share = kindShare, "10"
	case what == "except" && d.boolean:
		s.value, d.other = false, "on"
	case !d.boolean && len(d.base.GetVariants()) > 0:
		s.shares = []share{{0, "100"}}
	}
	s.Everyone = what == "everyone"
	if what == "if" {
		d.with(&s, what)
	}
	d.rules = append(d.rules, s)
	return nil
}

// takeTyped adds the segments and flags that were typed into the boxes, as resolve finds them.
func (d *draft) takeTyped(v *page.Visit, loosely bool) (problems part.Problems, err error) {
	problem, err := d.needs.takeTyped(v, loosely)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		problems.Add("requires-add", problem)
	}
	for i := range d.rules {
		s := &d.rules[i]
		for _, box := range []struct {
			id   string
			take func() (problem string, err error)
		}{
			{"add", func() (string, error) { return takeSegment(v, &s.typed, &s.segments, loosely) }},
			{"except-add", func() (string, error) { return takeSegment(v, &s.typedExcept, &s.Except, loosely) }},
			{"requires-add", func() (string, error) { return s.needs.takeTyped(v, loosely) }},
		} {
			problem, err := box.take()
			if err != nil {
				return nil, err
			}
			if problem != "" {
				s.open = true
				problems = append(problems, part.Problem{Field: ruleID(i, box.id), Message: problem, Brief: d.label(i) + ": " + problem})
			}
		}
	}
	return problems, nil
}

// takeSegment adds the segment that was typed to the keys, or returns what is wrong with it.
func takeSegment(v *page.Visit, typed *string, keys *[]string, loosely bool) (problem string, err error) {
	if strings.TrimSpace(*typed) == "" {
		*typed = ""
		return "", nil
	}
	key, problem, err := resolve("segment", *typed, loosely, eachSegment(v, v.Key()))
	if err != nil || problem != "" {
		return problem, err
	}
	if *typed = ""; !slices.Contains(*keys, key) {
		*keys = append(*keys, key)
	}
	return "", nil
}

// even gives all variants the same share, as nearly as two decimals allow; the first ones
// get the rest.
func (d *draft) even(s *rule) {
	n := len(d.base.GetVariants())
	if n == 0 {
		return
	}
	var all []share
	for _, p := range d.everyShare(*s) {
		if ofVariant(all, p.variant) >= 0 {
			continue
		}
		hundredths := 10000 / n
		if len(all) < 10000%n {
			hundredths++
		}
		all = append(all, share{p.variant, strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)})
	}
	s.shares = all
}

// everyShare returns the shares of all variants: those of the rule in their order, where a
// variant may have several, and the others where the order of the variants puts them, if that
// is the order of the rule.
func (d *draft) everyShare(s rule) []share {
	all := slices.Clone(s.shares)
	byVariant := func(a, b share) int { return a.variant - b.variant }
	sorted := slices.IsSortedFunc(all, byVariant)
	for i := range d.base.GetVariants() {
		if ofVariant(all, i) < 0 {
			all = append(all, share{i, ""})
		}
	}
	if sorted {
		slices.SortStableFunc(all, byVariant)
	}
	return all
}

// ofVariant returns the index of the first share of a variant, or -1.
func ofVariant(shares []share, variant int) int {
	return slices.IndexFunc(shares, func(p share) bool { return p.variant == variant })
}

// giveRest gives a variant the rest of the shares.
func (d *draft) giveRest(s *rule, variant int) {
	all, rest := d.everyShare(*s), 100.0
	at := ofVariant(all, variant)
	for i, p := range all {
		if n, _ := parseShare(p.text); i != at {
			rest -= float64(n)
		}
	}
	if at >= 0 {
		all[at].text = strconv.FormatFloat(max(0, rounded(rest)), 'f', -1, 64)
	}
	s.shares = all
}
