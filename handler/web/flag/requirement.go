package flag

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// needs are the flags that a flag or a rule requires, as a form has them.
type needs struct {
	Requires []requirement `json:",omitempty"`

	asked     bool   // the form shows the box for one more
	typedFlag string // into that
}

// requirement is a required flag.
type requirement struct {
	Flag string
	Is   []string `json:",omitempty"` // "true" and "false", or keys of variants; none if that is to be chosen
}

func needsOf(stored []*flipt.Requirement) (n needs) {
	for _, r := range convert.RequirementsOf(stored) {
		n.Requires = append(n.Requires, requirement{r.FlagKey, slices.Clone(r.Stated())})
	}
	return n
}

// wire returns the required flags as they are stored. An answer that is to be chosen is "?" in a draft,
// which is not saved: without answers, the flag would have to be true.
func (n *needs) wire() (all []*flipt.Requirement) {
	for _, r := range n.Requires {
		m := &flipt.Requirement{FlagKey: r.Flag, Answers: r.Is}
		switch {
		case len(r.Is) == 0:
			m.Answers = []string{"?"}
		case slices.Equal(r.Is, []string{"true"}):
			m.Answers = nil
		}
		all = append(all, m)
	}
	return all
}

// needName returns the name of a field of a required flag.
func needName(at string, j int, field string) string {
	return at + "requires." + strconv.Itoa(j) + "." + field
}

// readNeeds returns the required flags in the fields of a form, whose names begin with at. Those
// that had the same answers before, in another order, stay as they were.
func readNeeds(at string, form url.Values, was needs) needs {
	n := needs{asked: form.Get(at+"needs") != "", typedFlag: form.Get(at + "requires-add")}
	for j := 0; form.Has(needName(at, j, "flag")); j++ {
		r := requirement{form.Get(needName(at, j, "flag")), form[needName(at, j, "is")]}
		for _, before := range was.Requires {
			if before.Flag == r.Flag && slices.Equal(slices.Sorted(slices.Values(before.Is)), slices.Sorted(slices.Values(r.Is))) {
				r = before
			}
		}
		n.Requires = append(n.Requires, r)
	}
	return n
}

// needFields returns the fields of required flags that a form does not show.
func (n *needs) needFields(at string) (all []field) {
	for j, r := range n.Requires {
		all = append(all, field{needName(at, j, "flag"), r.Flag})
		for _, answer := range r.Is {
			all = append(all, field{needName(at, j, "is"), answer})
		}
	}
	return all
}

// needing reports whether an open rule shows the required flags.
func (n *needs) needing() bool {
	return n.asked || len(n.Requires) > 0 || strings.TrimSpace(n.typedFlag) != ""
}

// needID returns the id of the element of a required flag, whose ids begin with at.
func needID(at string, j int) string { return at + "requires-" + strconv.Itoa(j) }

// takeTyped adds the flag that was typed, or returns what is wrong with it. A boolean flag must be
// on; the variants that another one may answer are to be chosen.
func (n *needs) takeTyped(v *page.Visit, loosely bool) (problem string, err error) {
	key := strings.TrimSpace(n.typedFlag)
	if key == "" {
		n.typedFlag = ""
		return "", nil
	}
	flag, err := flagAt(v, v.Key(), key)
	if code := guidon.CodeOf(err); code == guidon.NotFound || code == guidon.InvalidArgument { // it may be a name
		if key, problem, err = resolve("flag", key, loosely, eachFlag(v)); err != nil || problem != "" {
			return problem, err
		}
		flag, err = flagAt(v, v.Key(), key)
	}
	switch {
	case guidon.IsUnreadable(err):
		return "This release cannot read flag “" + key + "”.", nil
	case guidon.CodeOf(err) == guidon.NotFound:
		return "Flag “" + key + "” was deleted just now.", nil
	case err != nil:
		return "", err
	}
	n.typedFlag = ""
	n.add(key, isBoolean(flag))
	return "", nil
}

// add adds the required flag, unless it is there already.
func (n *needs) add(key string, boolean bool) {
	if slices.ContainsFunc(n.Requires, func(r requirement) bool { return r.Flag == key }) {
		return
	}
	r := requirement{Flag: key}
	if boolean {
		r.Is = []string{"true"}
	}
	n.Requires = append(n.Requires, r)
}

// remove removes a required flag.
func (n *needs) remove(a page.Action) {
	if j, ok := a.Index(1, len(n.Requires)); ok {
		n.Requires = slices.Delete(n.Requires, j, j+1)
		n.asked = true
	}
}

// check passes the problems of the required flags to add.
func (n *needs) check(add func(id, message string)) {
	if count := len(n.Requires); count > service.MaxRequirements {
		add("requires-add", strconv.Itoa(service.MaxRequirements)+" flags at most, these are "+strconv.Itoa(count)+".")
	}
	for j, r := range n.Requires {
		if len(r.Is) == 0 {
			add(needID("", j), "Choose what "+r.Flag+" must be.")
		}
	}
}

// namedFlag is how errors of the service name flags: in quotes, maybe with a namespace, or on a path.
var namedFlag = regexp.MustCompile(`"(?:[^"/]*/)?([^"]*)"|[:→] (\S+)`)

// named returns the index of the required flag that an error of the service names first, or -1.
func (n *needs) named(message string) int {
	for _, m := range namedFlag.FindAllStringSubmatch(message, -1) {
		if j := slices.IndexFunc(n.Requires, func(r requirement) bool { return r.Flag == m[1]+m[2] }); j >= 0 {
			return j
		}
	}
	return -1
}

// eachNeeds yields the required flags of the flag itself and of its rules, each with the beginning of
// the ids of their elements.
func (d *draft) eachNeeds(yield func(at string, n *needs) bool) {
	if !yield("", &d.needs) {
		return
	}
	for i := range d.rules {
		if !yield(ruleID(i, ""), &d.rules[i].needs) {
			return
		}
	}
}

// refused returns the problem that the service has with the draft, at the required flag that it is
// about, if there is one.
func (e *edit) refused(err error) part.Problems {
	text := guidon.PublicMessage(err)
	p := part.Problem{Field: "edit", Message: page.Sentence(text)}
	if d, ok := e.editor.(*draft); ok {
		p.Field = cmp.Or(d.needOf(text), p.Field)
	}
	return part.Problems{p}
}

// needPlace is how errors of the service about a required flag by itself begin.
var needPlace = regexp.MustCompile(`^flag: (?:(?:rules|rollouts)\[(\d+)\]: )?invalid field requires\[(\d+)\]`)

// needOf returns the id of the required flag that an error of the service is about, or "".
func (d *draft) needOf(message string) string {
	if m := needPlace.FindStringSubmatch(message); m != nil {
		at := "rule-" + m[1] + "-"
		if m[1] == "" {
			at = ""
		}
		return at + "requires-" + m[2]
	}
	if strings.HasPrefix(message, `flag "`) {
		for at, n := range d.eachNeeds {
			if j := n.named(message); j >= 0 {
				return needID(at, j)
			}
		}
	}
	return ""
}

// readRequired reads the flags that the draft requires, in the state that the page shows. Those that
// cannot be read are nil.
func (l *ladder) readRequired() error {
	l.required = make(map[string]*guidonv1.DocumentFlag)
	for _, n := range l.draft.eachNeeds {
		for _, r := range n.Requires {
			if _, known := l.required[r.Flag]; known || len(l.required) == maxSingle {
				continue
			}
			f, err := flagAt(l.v, l.namespaceKey(), r.Flag)
			switch code := guidon.CodeOf(err); {
			case err == nil, code == guidon.NotFound, code == guidon.InvalidArgument, guidon.IsUnreadable(err):
			default:
				return err
			}
			l.required[r.Flag] = f
		}
	}
	return nil
}

// answersOf returns what a required flag can answer, and what else is stated.
func (l *ladder) answersOf(r requirement) []string {
	all := []string{"true", "false"}
	if f := l.required[r.Flag]; f != nil && !isBoolean(f) {
		all = nil
		for _, v := range f.GetVariants()[:min(len(f.GetVariants()), maxVariants)] {
			all = append(all, v.GetKey())
		}
	}
	for _, answer := range r.Is {
		if !slices.Contains(all, answer) {
			all = append(all, answer)
		}
	}
	return all
}

// answerName returns the name of an answer of a required flag within a sentence.
func (l *ladder) answerName(key, answer string) string {
	if f := l.required[key]; (f == nil || isBoolean(f)) && (answer == "true" || answer == "false") {
		return change.OnOff(answer == "true")
	}
	return page.Printable(answer, page.MaxText)
}

// requiredName returns the name of a required flag.
func (l *ladder) requiredName(key string) string { return cmp.Or(l.required[key].GetName(), key) }

// answersWords returns the answers that meet a requirement, such as "on" or "b or c".
func (l *ladder) answersWords(r requirement) string {
	words := ""
	for i, answer := range r.Is[:min(len(r.Is), maxInWho)] {
		words += l.answerName(r.Flag, answer) + page.Or(i, min(len(r.Is), maxInWho+1), "")
	}
	if more := len(r.Is) - maxInWho; more > 0 {
		words += page.Count(more, "other")
	}
	return words
}

// needWords returns the required flags of a closed rule in words, such as "needs new-api to be on", or "".
func (l *ladder) needWords(s rule) string {
	words := lists.Map(s.Requires, func(r requirement) string { return r.Flag + " to be " + l.answersWords(r) })
	if len(words) == 0 {
		return ""
	}
	return "needs " + guidon.Shorten(strings.Join(words, " and "), maxConditionWords)
}

// asksNeeds reports whether the page has fields for what the flag itself requires.
func (l *ladder) asksNeeds() bool {
	return l.editable && (l.draft.asked || l.problems.Within("requires-"))
}
