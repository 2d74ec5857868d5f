package flag

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/web/segment"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// conditions are what a rule requires besides its segments, and how its shares are taken. The
// fields are those of the JSON form in which a closed rule has them.
type conditions struct {
	Everyone bool            `json:",omitempty"` // unless there are segments or groups
	Groups   []segment.Group `json:",omitempty"`
	Except   []string        `json:",omitempty"`
	needs
	Times   *period   `json:",omitempty"` // nil if the rule always holds
	Portion *division `json:",omitempty"` // nil if the rule is for all of them
	Ramp    *ramp     `json:",omitempty"` // of the portion, or of a share of everyone; nil if it has no ramp
	Divide  division  `json:",omitzero"`  // of a share of everyone, or of the shares of variants
	Code    bool      `json:",omitempty"` // the answer is the default in the code
}

// division is how a share of the entities is taken, as it was typed.
type division struct {
	Share string `json:",omitempty"`
	Start string `json:",omitempty"`
	By    string `json:",omitempty"`
	Seed  string `json:",omitempty"`
	Hash  string `json:",omitempty"` // a name of guidon.BucketHash
}

func conditionsOf(r convert.WithConditions) conditions {
	c := conditions{Everyone: r.GetEveryone(), Groups: segment.GroupsOf(r.GetGroups()), Except: r.GetExceptSegmentKeys()}
	c.needs, c.Times = needsOf(r.GetRequires()), periodOf(r.GetHoldsFrom(), r.GetHoldsUntil())
	if p := r.GetPortion(); p != nil {
		c.Portion = new(divisionOf(p.GetStart(), p.GetSplit()))
		c.Portion.Share, c.Ramp = shareText(p.GetPercentage()), rampOf(p.GetRamp())
	}
	return c
}

func divisionOf(start float32, s *flipt.Split) division {
	d := division{By: s.GetBy(), Seed: s.GetSeed(), Hash: convert.Enum[guidon.BucketHash](s.GetHash()).String()}
	if start != 0 {
		d.Start = shareText(start)
	}
	return d
}

// encode returns the conditions as a field of a closed rule, or "" if there are none.
func (c conditions) encode() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts, numbers and booleans can always be encoded
	}
	return strings.TrimPrefix(string(text), "{}")
}

// document returns a stored rule with the conditions.
func (s rule) document() *guidonv1.DocumentRule {
	r := &guidonv1.DocumentRule{
		ExceptSegmentKeys: s.Except, Everyone: s.isForEveryone(), Requires: s.needs.wire(), Split: s.Divide.split(), CodeDefault: s.Code,
	}
	for i := range s.Groups {
		r.Groups = append(r.Groups, s.Groups[i].Document())
	}
	if p := s.Times; p != nil {
		r.HoldsFrom, r.HoldsUntil = timestampOf(p.From), timestampOf(p.Until)
	}
	if p := s.Portion; p != nil {
		r.Portion = &flipt.Portion{Percentage: shareNumber(p.Share), Start: shareNumber(p.Start), Split: p.split(), Ramp: convert.WireRamp(s.Ramp.ramp())}
	}
	return r
}

// isForEveryone reports whether neither segments nor constraints say whom the rule is for.
func (s rule) isForEveryone() bool { return s.Everyone && len(s.segments)+len(s.Groups) == 0 }

// split returns the division as it is stored, or nil if it is the flag's own.
func (d division) split() *flipt.Split {
	var hash guidon.BucketHash
	_ = hash.UnmarshalText([]byte(d.Hash)) // a form of ours has no others
	if d.By == "" && d.Seed == "" && hash == guidon.DefaultHash {
		return nil
	}
	return &flipt.Split{By: d.By, Seed: d.Seed, Hash: flipt.BucketHash(hash)}
}

// sameConditions reports whether both rules would be stored with the same conditions.
func (s rule) sameConditions(o rule) bool {
	if s.Divide != o.Divide || !equal(s.Portion, o.Portion) || !equal(s.Times, o.Times) || !reflect.DeepEqual(s.Ramp, o.Ramp) {
		return false
	}
	return proto.Equal(s.document(), o.document()) && strings.TrimSpace(s.typedExcept+s.typedFlag) == ""
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// groupPrefix returns the beginning of the names of the fields of a group.
func groupPrefix(i, j int) string { return prefix(i) + "if." + strconv.Itoa(j) + "." }

// readConditions reads the conditions of a rule, and what is typed into the fields of an open one.
func (d *draft) readConditions(s *rule, i int, form url.Values) error {
	at := prefix(i)
	if text := form.Get(at + "conditions"); text != "" {
		if json.Unmarshal([]byte(text), &s.conditions) != nil {
			return guidon.Errorf(guidon.InvalidArgument, "the form is not complete")
		}
		for j := range s.Groups {
			s.Groups[j].Enter(d.zone)
		}
		return nil
	}
	was, _ := d.before(*s)
	s.Everyone, s.Code = form.Get(at+"everyone") != "", form.Get(at+"code") != ""
	s.in, s.unless, s.typedExcept = form.Get(at+"in") != "", form.Get(at+"unless") != "", form.Get(at+"except-add")
	s.Except = strings.Fields(form.Get(at + "except"))
	s.needs = readNeeds(at, form, was.needs)
	for j := 0; form.Has(groupPrefix(i, j) + "match"); j++ {
		g, err := segment.ReadGroup(form, groupPrefix(i, j), d.zone)
		if err != nil {
			return err
		}
		g.KeepSpelling(d.saved(*s, g))
		s.Groups = append(s.Groups, g)
	}
	if form.Has(at + "times.from") {
		s.Times = &period{readTime(form.Get(at + "times.from")), readTime(form.Get(at + "times.until"))}
	}
	if form.Has(at + "portion.share") {
		before := division{}
		if was.Portion != nil {
			before = *was.Portion
		}
		s.Portion = new(readDivision(at+"portion.", form, before))
	}
	s.Ramp = readRamp(at+"ramp.", form)
	s.Divide = was.Divide
	if form.Has(at + "divide.hash") { // there are shares
		s.Divide = readDivision(at+"divide.", form, was.Divide)
	}
	return nil
}

func readDivision(at string, form url.Values, was division) division {
	return division{
		Share: form.Get(at + "share"), Start: form.Get(at + "start"), Hash: form.Get(at + "hash"),
		By: page.Line(was.By, form.Get(at+"by")), Seed: page.Line(was.Seed, form.Get(at+"seed")),
	}
}

// saved returns the constraints of a group of the rule as they were when the visitor began.
func (d *draft) saved(s rule, g segment.Group) []*guidonv1.DocumentConstraint {
	if was, ok := d.before(s); ok && g.From >= 0 && g.From < len(was.Groups) {
		return was.Groups[g.From].Documents()
	}
	return nil
}

// rows returns the constraints of a group as the page shows them.
func (l *ladder) rows(i, j int) *segment.Rows {
	s := l.draft.rules[i]
	return &segment.Rows{
		Visit: l.v, Group: &s.Groups[j], Prefix: groupPrefix(i, j), Label: "rule " + strconv.Itoa(i+1) + ", group " + strconv.Itoa(j+1) + ", ",
		Saved: l.draft.saved(s, s.Groups[j]), Known: l.known, Problems: l.problems,
	}
}

// boxed reports whether an open rule has the box for its segments.
func (s rule) boxed() bool {
	return len(s.segments) > 0 || s.typed != "" || !s.Everyone && (s.in || len(s.Groups) == 0)
}

// excepts reports whether an open rule has the box for the segments that it is not for.
func (s rule) excepts() bool { return s.unless || len(s.Except) > 0 || s.typedExcept != "" }

// with adds a condition to a rule, whose fields are empty.
func (d *draft) with(s *rule, what string) {
	switch what {
	case "segment":
		s.in, s.Everyone = true, false
	case "if":
		s.in, s.Everyone = len(s.segments) > 0, false
		if len(s.Groups) < service.MaxConstraintGroups {
			s.Groups = append(s.Groups, segment.NewGroup(d.zone))
		}
	case "except":
		s.unless = true
	case "needs":
		s.asked = true
	case "times":
		s.Times = new(period)
	case "portion":
		s.Portion = &division{Share: "10"}
	case "ramp":
		s.Ramp = newRamp(d.now)
	case "step":
		if s.Ramp != nil {
			s.Ramp.addStep()
		}
	}
}

// without removes a condition.
func (s *rule) without(what string) {
	switch what {
	case "except":
		s.Except, s.unless, s.typedExcept = nil, false, ""
	case "needs":
		s.needs = needs{}
	case "times":
		s.Times = nil
	case "portion":
		s.Portion, s.Ramp = nil, nil
	case "ramp":
		s.Ramp = nil
	}
}

// actOnGroup applies a button of a constraint. It reports false for any other button.
func (d *draft) actOnGroup(a page.Action) (problems part.Problems, ok bool) {
	for i := range d.rules {
		s := &d.rules[i]
		for j := range s.Groups {
			if !slices.Contains(a.Arguments, groupPrefix(i, j)) {
				continue
			}
			problems, last := s.Groups[j].Act(a, groupPrefix(i, j), d.saved(*s, s.Groups[j]), d.zone)
			if last {
				s.Groups = slices.Delete(s.Groups, j, j+1)
			}
			return problems, true
		}
	}
	return nil, false
}

// checkConditions returns the problems of the constraints of a rule, and passes others to add.
func (d *draft) checkConditions(i int, add func(id, message string)) (problems part.Problems) {
	s := d.rules[i]
	for j := range s.Groups {
		at, g := groupPrefix(i, j), &s.Groups[j]
		if n := len(g.Constraints); n > service.MaxGroupConstraints {
			problems.Add(at+"constraints", "A group has "+strconv.Itoa(service.MaxGroupConstraints)+" constraints at most, this has "+strconv.Itoa(n)+".")
		}
		problems = append(problems, g.Check(at, d.saved(s, *g), d.zone)...)
	}
	if n := len(s.Except); n > service.MaxExceptions {
		add("except-add", strconv.Itoa(service.MaxExceptions)+" segments at most, these are "+strconv.Itoa(n)+".")
	}
	s.needs.check(add)
	if s.Times != nil {
		s.Times.check(add)
	}
	if s.Portion != nil {
		_, problem := parseShare(s.Portion.Share)
		add("portion-share", problem)
		s.Portion.check(s.Portion.Share, "portion-", add)
	}
	s.Divide.check(s.share, "divide-", add)
	if s.Ramp != nil {
		s.Ramp.check(s.divided().Start, add)
	}
	return problems
}

// check passes the problems of the fields below More to add. The ids of the fields begin with at.
func (d division) check(share, at string, add func(id, message string)) {
	if strings.TrimSpace(d.Start) != "" {
		if start, problem := parseShare(d.Start); problem != "" {
			add(at+"start", problem)
		} else if start+shareNumber(share) > 100 {
			add(at+"start", "Start and share are more than 100% together.")
		}
	}
	add(at+"by", page.TooLong(d.By, page.MaxText))
	add(at+"seed", page.TooLong(d.Seed, page.MaxText))
}

// maxConditionWords limits the words of a condition of a closed rule, in bytes.
const maxConditionWords = 300

// conditionWords returns the conditions of a closed rule in words, without the required flags.
func (s rule) conditionWords() string {
	d := s.document()
	d.Requires = nil
	c := convert.ConditionsOf(d)
	if s.kind == kindShare {
		words := []string{s.Divide.words(s.Ramp), analysis.TimesWords(c.Stated())}
		return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
	}
	words := strings.TrimPrefix(strings.TrimPrefix(change.TargetWords("in", c.Stated(), maxConditionWords), "in"), ", ")
	if len(s.segments) == 0 && !c.Stated().Everyone {
		return page.Capital(words)
	}
	return words
}

// words returns how the shares are taken, and raised by the ramp, in words, or "".
func (d division) words(r *ramp) string {
	p := guidon.Portion{Start: shareNumber(d.Start), Ramp: r.ramp()}
	if split := convert.SplitOf(d.split()); split != nil {
		p.Split = *split
	}
	_, words, _ := strings.Cut(change.PortionWords(&p, ""), " ") // after the percentage
	return words
}

// codeDefault is an answer in words.
const codeDefault = "The default in the code"

// effective returns how much of everyone a share comes to, in percent.
func (d division) effective(share float32) float64 {
	if d.Hash == "flipt" || d.Hash == "" && d.Seed == "" {
		return ceilPercent(share)
	}
	return float64(share)
}

// hint returns a sentence about which entities are in a share of everyone.
func (d division) hint() string {
	const raised = "Raising the share keeps everyone who is in it."
	if d == (division{}) {
		return raised + " Who is in comes from the entity’s id and this flag’s key, in 100 steps."
	}
	return raised
}

// bucketHashes are the ways to compute buckets, with what the page calls them.
var bucketHashes = part.Options(
	"", "the usual one", "flipt", "flipt, as Flipt", "flipt-fine", "flipt-fine, as Flipt with 100,000 parts",
	"murmur3", "murmur3, 100,000 parts", "unleash", "unleash, as Unleash",
)
