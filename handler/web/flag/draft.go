package flag

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxRules limits the rules that a page shows and edits.
const maxRules = 200

// draft has the rules or rollouts of a flag and its default, as the fields of a form have them.
type draft struct {
	base     *guidonv1.DocumentFlag // the state that the visitor began with
	boolean  bool
	rules    []rule
	other    string // what everyone else gets: "on", "off" or the key of a variant; "" for none
	openElse bool
	needs                   // of the flag itself
	zone     *time.Location // of the visitor
	now      time.Time
}

// Kinds of rules.
const (
	kindSegment = "segment" // those in segments
	kindShare   = "share"   // a share of everyone, of boolean flags only
)

// rule is a rule or a rollout in a draft.
type rule struct {
	was      int // the index in the base, or -1 if it is new
	kind     string
	segments []string
	all      bool // one must be in all of the segments, not in any
	value    bool // of boolean flags: on
	share    string
	shares   []share // of variant flags, in the order in which they are cut
	note     string
	open     bool
	typed    string // into the box for segments
	conditions

	in, unless  bool   // an open rule shows the box for segments, or for those it is not for
	typedExcept string // into the latter
}

// share is the share of a variant, which is given by its index in the flag.
type share struct {
	variant int
	text    string // "" for none
}

// newDraft returns the draft of a flag without edits.
func newDraft(base *guidonv1.DocumentFlag) *draft {
	d := &draft{base: base, boolean: isBoolean(base), zone: time.UTC, needs: needsOf(base.GetRequires())}
	if d.boolean {
		d.other = change.OnOff(base.GetEnabled())
		for i, r := range base.GetRollouts() {
			d.rules = append(d.rules, booleanRule(i, r))
		}
		return d
	}
	d.other = defaultVariant(base)
	for i, r := range base.GetRules() {
		d.rules = append(d.rules, d.variantRule(i, r))
	}
	return d
}

// defaultVariant returns the key of the default variant, or "".
func defaultVariant(f *guidonv1.DocumentFlag) string {
	for _, v := range f.GetVariants() {
		if v.GetDefault() {
			return v.GetKey()
		}
	}
	return ""
}

func booleanRule(i int, r *guidonv1.DocumentRollout) rule {
	s := rule{was: i, kind: kindSegment, note: r.GetDescription(), conditions: conditionsOf(r)}
	if t := r.GetThreshold(); t != nil {
		s.kind, s.share, s.value, s.Divide = kindShare, shareText(t.GetPercentage()), t.GetValue(), divisionOf(t.GetStart(), t.GetSplit())
		s.Ramp = rampOf(t.GetRamp())
		return s
	}
	g := r.GetSegment()
	s.segments, s.all, s.value = slices.Clone(g.GetSegmentKeys()), isAll(g.GetSegmentOperator()), g.GetValue()
	return s
}

func isAll(operator flipt.SegmentOperator) bool {
	return operator == flipt.SegmentOperator_AND_SEGMENT_OPERATOR
}

func (d *draft) variantRule(i int, r *guidonv1.DocumentRule) rule {
	s := rule{was: i, kind: kindSegment, segments: slices.Clone(r.GetSegmentKeys()), all: isAll(r.GetSegmentOperator())}
	s.conditions = conditionsOf(r)
	s.Divide, s.Code = divisionOf(0, r.GetSplit()), r.GetCodeDefault()
	for _, part := range r.GetDistributions() {
		if index := variantIndex(d.base, part.GetVariant()); index >= 0 {
			s.shares = append(s.shares, share{index, shareText(part.GetRollout())})
		}
	}
	return s
}

// variantIndex returns the index of the variant with the key, or -1.
func variantIndex(f *guidonv1.DocumentFlag, key string) int {
	return slices.IndexFunc(f.GetVariants(), func(v *guidonv1.DocumentVariant) bool { return v.GetKey() == key })
}

// same reports whether both rules would be stored as the same.
func (s rule) same(o rule) bool {
	return s.kind == o.kind && slices.Equal(s.segments, o.segments) && (s.all == o.all || len(s.segments) < 2) && s.value == o.value &&
		(s.kind != kindShare || s.share == o.share) && slices.Equal(s.given(), o.given()) && s.note == o.note &&
		strings.TrimSpace(s.typed) == "" && s.sameConditions(o)
}

// given returns the shares that are not empty.
func (s rule) given() []share {
	return slices.DeleteFunc(slices.Clone(s.shares), func(p share) bool { return strings.TrimSpace(p.text) == "" })
}

// shareOf returns the text of the share of a variant.
func (s rule) shareOf(variant int) string {
	for _, p := range s.shares {
		if p.variant == variant {
			return p.text
		}
	}
	return ""
}

// before returns the rule as it was when the visitor began, and whether it existed.
func (d *draft) before(s rule) (rule, bool) {
	switch {
	case s.was < 0:
		return rule{}, false
	case d.boolean && s.was < len(d.base.GetRollouts()):
		return booleanRule(s.was, d.base.GetRollouts()[s.was]), true
	case !d.boolean && s.was < len(d.base.GetRules()):
		return d.variantRule(s.was, d.base.GetRules()[s.was]), true
	}
	return rule{}, false
}

// prefix returns the beginning of the names of a rule's fields.
func prefix(i int) string { return "rule." + strconv.Itoa(i) + "." }

// ruleID returns the id of an element of a rule.
func ruleID(i int, name string) string { return "rule-" + strconv.Itoa(i) + "-" + name }

// readDraft returns the draft in a form.
func readDraft(e *edit, form url.Values) (editor, error) {
	d := &draft{base: e.base, boolean: isBoolean(e.base), other: form.Get("else"), openElse: form.Get("else.open") != "", zone: e.v.Location(), now: e.v.Now()}
	d.needs = readNeeds("", form, needsOf(e.base.GetRequires()))
	for i := 0; form.Has(prefix(i) + "kind"); i++ {
		if i == maxRules {
			return nil, guidon.Errorf(guidon.TooLarge, "more than %d rules cannot be edited in a form", maxRules)
		}
		s, err := d.readRule(i, form)
		if err != nil {
			return nil, err
		}
		d.rules = append(d.rules, s)
	}
	return d, nil
}

func (d *draft) readRule(i int, form url.Values) (rule, error) {
	at := prefix(i)
	s := rule{
		was: -1, kind: kindSegment, all: form.Get(at+"operator") == "and", value: form.Get(at+"value") == "on",
		share: form.Get(at + "share"), note: form.Get(at + "note"), open: form.Get(at+"open") != "", typed: form.Get(at + "add"),
	}
	if d.boolean && form.Get(at+"kind") == kindShare {
		s.kind = kindShare
	}
	if was, err := strconv.Atoi(form.Get(at + "was")); err == nil && was >= 0 && was < max(len(d.base.GetRollouts()), len(d.base.GetRules())) {
		s.was = was
	}
	if before, ok := d.before(s); ok {
		s.note = page.Line(before.note, s.note)
	}
	s.segments = strings.Fields(form.Get(at + "segments"))
	for j := 0; form.Has(at + "segment." + strconv.Itoa(j)); j++ {
		s.segments = append(s.segments, form.Get(at+"segment."+strconv.Itoa(j)))
	}
	if !d.boolean {
		s.shares = d.readShares(at, form)
	}
	return s, d.readConditions(&s, i, form)
}

// readShares returns the shares of a rule: those in the order that the form has, and then
// any others.
func (d *draft) readShares(at string, form url.Values) (shares []share) {
	taken := make(map[int]int) // how many of its texts a variant has used
	next := func(variant int) {
		texts := form[at+"share."+d.base.GetVariants()[variant].GetKey()]
		if n := taken[variant]; n < len(texts) {
			taken[variant]++
			shares = append(shares, share{variant, texts[n]})
		}
	}
	for text := range strings.SplitSeq(form.Get(at+"order"), ",") {
		if variant, err := strconv.Atoi(text); err == nil && variant >= 0 && variant < len(d.base.GetVariants()) {
			next(variant)
		}
	}
	for variant := range d.base.GetVariants() {
		if taken[variant] == 0 {
			next(variant)
		}
	}
	return shares
}

// order returns the variants of the shares, for the form.
func (s rule) order() string {
	return strings.Join(lists.Map(s.shares, func(p share) string { return strconv.Itoa(p.variant) }), ",")
}

// field is a hidden field of a form.
type field struct{ name, value string }

// fields returns the fields of the rules and of everyone else, for a form that shows none
// of them.
func (d *draft) fields() (all []field) {
	for i, s := range d.rules {
		all = append(all, d.ruleFields(i, s)...)
	}
	return append(append(all, d.needFields("")...), field{"else", d.other})
}

// ruleFields returns the fields of a rule that is not open.
func (d *draft) ruleFields(i int, s rule) []field {
	at := prefix(i)
	all := d.fixedFields(i, s)
	all = append(all, field{at + "note", s.note}, field{at + "operator", operatorText(s.all)})
	if d.boolean {
		all = append(all, field{at + "value", change.OnOff(s.value)})
	}
	if s.kind == kindShare {
		all = append(all, field{at + "share", s.share})
	}
	if text := s.encode(); text != "" {
		all = append(all, field{at + "conditions", text})
	}
	return append(all, d.shareFields(at, s)...)
}

// shareFields returns the fields of the shares of a rule that shows none.
func (d *draft) shareFields(at string, s rule) (all []field) {
	for _, p := range s.given() {
		all = append(all, field{at + "share." + d.base.GetVariants()[p.variant].GetKey(), p.text})
	}
	return all
}

// maxSingleFields limits the segments that have a field each: package net/url reads at most
// 10,000 fields of a form. The keys of more are in one field.
const maxSingleFields = 20

// maxFields limits the fields of a form, for the same reason.
const maxFields = 8000

// fixedFields returns the fields of a rule that no element of an open one shows.
func (d *draft) fixedFields(i int, s rule) []field {
	at := prefix(i)
	all := []field{{at + "kind", s.kind}}
	if s.was >= 0 {
		all = append(all, field{at + "was", strconv.Itoa(s.was)})
	}
	if len(s.segments) > maxSingleFields {
		all = append(all, field{at + "segments", strings.Join(s.segments, " ")})
	} else {
		for j, key := range s.segments {
			all = append(all, field{at + "segment." + strconv.Itoa(j), key})
		}
	}
	if !d.boolean {
		all = append(all, field{at + "order", s.order()})
	}
	return all
}

func operatorText(all bool) string {
	if all {
		return "and"
	}
	return "or"
}

// result returns the flag that the draft stands for. Rules that are as they were stay
// exactly as they are stored. Text that is not a number counts as 0.
func (d *draft) result() *guidonv1.DocumentFlag {
	f := proto.CloneOf(d.base)
	f.Requires = d.needs.wire()
	if d.boolean {
		f.Enabled, f.Rollouts = d.other == "on", nil
		for _, s := range d.rules {
			f.Rollouts = append(f.Rollouts, d.rolloutDocument(s))
		}
		return f
	}
	for _, v := range f.GetVariants() {
		v.Default = v.GetKey() == d.other
	}
	f.Rules = nil
	for _, s := range d.rules {
		f.Rules = append(f.Rules, d.ruleDocument(s))
	}
	return f
}

func (d *draft) rolloutDocument(s rule) *guidonv1.DocumentRollout {
	if was, ok := d.before(s); ok && s.same(was) {
		return d.base.GetRollouts()[s.was]
	}
	c := s.document()
	r := &guidonv1.DocumentRollout{
		Description: s.note, Groups: c.GetGroups(), ExceptSegmentKeys: c.GetExceptSegmentKeys(), Everyone: c.GetEveryone(),
		Requires: c.GetRequires(), HoldsFrom: c.GetHoldsFrom(), HoldsUntil: c.GetHoldsUntil(), Portion: c.GetPortion(),
	}
	if s.kind == kindShare {
		percentage, _ := parseShare(s.share)
		r.Rule = &guidonv1.DocumentRollout_Threshold{Threshold: &guidonv1.DocumentRolloutThreshold{
			Percentage: percentage, Value: s.value, Start: shareNumber(s.Divide.Start), Split: c.GetSplit(), Ramp: convert.WireRamp(s.Ramp.ramp()),
		}}
		return r
	}
	r.Rule = &guidonv1.DocumentRollout_Segment{Segment: &guidonv1.DocumentRolloutSegment{
		SegmentKeys: s.segments, SegmentOperator: s.operator(), Value: s.value,
	}}
	return r
}

func (s rule) operator() flipt.SegmentOperator {
	if s.all && len(s.segments) > 1 {
		return flipt.SegmentOperator_AND_SEGMENT_OPERATOR
	}
	return flipt.SegmentOperator_OR_SEGMENT_OPERATOR
}

func (d *draft) ruleDocument(s rule) *guidonv1.DocumentRule {
	was, ok := d.before(s)
	if ok && s.same(was) {
		r := proto.CloneOf(d.base.GetRules()[s.was])
		r.Rank = 0 // its position counts
		return r
	}
	r := s.document()
	r.SegmentKeys, r.SegmentOperator = s.segments, s.operator()
	if s.Code {
		return r
	}
	for _, p := range s.given() {
		rollout, _ := parseShare(p.text)
		if rollout == 0 && was.shareOf(p.variant) == "" {
			continue
		}
		r.Distributions = append(r.Distributions, &guidonv1.DocumentDistribution{
			Variant: d.base.GetVariants()[p.variant].GetKey(), Rollout: rollout,
		})
	}
	return r
}

// segmentKeys returns the keys of all segments of the draft, each once, in order.
func (d *draft) segmentKeys() (keys []string) {
	for _, s := range d.rules {
		keys = append(append(keys, s.segments...), s.Except...)
	}
	return lists.Distinct(keys)
}

// sharesIn returns the shares with the indexes of the variants in another state. Those of
// variants that it lacks are left out.
func (d *draft) sharesIn(base *guidonv1.DocumentFlag, shares []share) (out []share) {
	for _, p := range shares {
		if i := variantIndex(base, d.base.GetVariants()[p.variant].GetKey()); i >= 0 {
			out = append(out, share{i, p.text})
		}
	}
	return out
}

// label returns the label of a rule, such as "Rule 3".
func (d *draft) label(i int) string { return "Rule " + strconv.Itoa(i+1) }

// outcomeName returns the name of on or off, or the key of a variant.
func (d *draft) outcomeName(outcome string) string {
	switch {
	case d.boolean && outcome == "on":
		return "On"
	case d.boolean:
		return "Off"
	}
	return cmp.Or(outcome, "no variant")
}
