package unleash

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Omission is a feature that is not in the document.
type Omission struct {
	Feature string
	Reason  string
}

// translator translates one environment.
type translator struct {
	environment *Environment
	namespace   service.DocumentNamespace
	segments    map[int]*translatedSegment
	keys        map[string]bool // of the segments
}

// translatedSegment is a segment of Unleash, either as a segment or as a condition.
type translatedSegment struct {
	as        *guidon.Segment // or nil
	condition condition
	err       error
}

// Document returns the environment as a document in which each user has the same variant as in
// Unleash, and the features that it omits because it cannot say that of them. The document has
// those segments that its flags use.
func (e *Environment) Document() (*service.Document, []Omission) {
	name := cmp.Or(e.Name, guidon.DefaultNamespace)
	t := &translator{
		environment: e, namespace: service.DocumentNamespace{Key: keyOf(name), Name: name},
		segments: map[int]*translatedSegment{}, keys: map[string]bool{},
	}
	d := &service.Document{Namespace: t.namespace}
	var omissions []Omission
	used, seen := segments{}, map[string]bool{}
	for i := range e.Features {
		f := &e.Features[i]
		flag, its, err := t.flag(f)
		if seen[f.Name] {
			err = errors.New("another feature has the same name")
		}
		seen[f.Name] = true
		if err != nil {
			omissions = append(omissions, Omission{f.Name, err.Error()})
			continue
		}
		d.Flags = append(d.Flags, flag)
		maps.Copy(used, its)
	}
	d.Segments = used.sorted()
	return d, omissions
}

// segments are those of flags, by their keys.
type segments map[string]*guidon.Segment

func (s segments) sorted() (list []*guidon.Segment) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		list = append(list, s[key])
	}
	return list
}

var notOfKey = regexp.MustCompile(`[^-_,A-Za-z0-9]+`)

// keyOf returns a key that resembles the name.
func keyOf(name string) string { return cmp.Or(notOfKey.ReplaceAllString(name, "-"), "-") }

// flag returns the feature as a flag, and the segments that it uses.
func (t *translator) flag(f *Feature) (*guidon.Flag, segments, error) {
	strategies, err := f.active()
	if err != nil {
		return nil, nil, err
	}
	flag := &guidon.Flag{Key: f.Name, Name: f.Name, Description: f.Description, Type: guidon.BooleanFlag}
	if f.hasVariants(strategies) {
		flag.Type, flag.Enabled = guidon.VariantFlag, f.Enabled
	} else if !f.Enabled {
		flag.Rollouts = append(flag.Rollouts, &guidon.Rollout{
			Description: service.OffDescription, Threshold: &guidon.RolloutThreshold{Percentage: 100},
		})
	}
	used := segments{}
	for i := range strategies {
		s := &strategies[i]
		rule, err := t.rule(s)
		if err == nil && rule != nil {
			maps.Copy(used, rule.segments)
			err = rule.addTo(flag, f, s)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("strategy %d (%s): %w", i+1, s.Name, err)
		}
	}
	alone := &service.Document{Namespace: t.namespace, Flags: []*guidon.Flag{flag}}
	for i := range f.Dependencies {
		if err := t.require(alone, &f.Dependencies[i], used); err != nil {
			return nil, nil, fmt.Errorf("it depends on %s%w", guidon.Quote(f.Dependencies[i].Feature), err)
		}
	}
	alone.Segments = used.sorted()
	if problems, _ := alone.Problems(1); len(problems) > 0 {
		return nil, nil, errors.New(problems[0].String())
	}
	return flag, used, nil
}

// active returns the strategies that apply, or why the feature as a whole is omitted.
func (f *Feature) active() ([]strategy, error) {
	switch {
	case f.Archived:
		return nil, errors.New("it is archived")
	case len(f.Strategies) == 0:
		return []strategy{{Name: "default"}}, nil // which is for everyone
	}
	active := slices.DeleteFunc(slices.Clone(f.Strategies), func(s strategy) bool { return s.Disabled })
	if len(active) == 0 {
		return nil, errors.New("all its strategies are disabled: for whom it is on depends on the release of Unleash")
	}
	return active, nil
}

func (f *Feature) hasVariants(strategies []strategy) bool {
	return len(f.Variants) > 0 || slices.ContainsFunc(strategies, func(s strategy) bool { return len(s.Variants) > 0 })
}

// rule is whom a strategy is for.
type rule struct {
	segments segments
	condition
	portion *guidon.Portion
}

// rule returns whom the strategy is for, or nil if it is for nobody.
func (t *translator) rule(s *strategy) (*rule, error) {
	r := &rule{segments: segments{}}
	for i := range s.Constraints {
		if err := r.add(&s.Constraints[i]); err != nil {
			return nil, err
		}
	}
	for _, id := range s.Segments {
		if err := r.addSegment(t.segment(id)); err != nil {
			return nil, fmt.Errorf("segment %d: %w", id, err)
		}
	}
	some, err := r.addStrategy(s)
	if err != nil || !some || r.never() {
		return nil, err
	}
	return r, nil
}

// segment returns the segment with the id.
func (t *translator) segment(id int) *translatedSegment {
	if s := t.segments[id]; s != nil {
		return s
	}
	s, out := t.environment.segments[id], &translatedSegment{}
	t.segments[id] = out
	switch {
	case s == nil:
		out.err = errors.New("it is not in the input")
	case s.Constraints == nil:
		out.err = errors.New("the export has only its name; import from the API, or an export of the state")
	default:
		for _, c := range *s.Constraints {
			out.err = cmp.Or(out.err, out.condition.add(&c))
		}
		name := cmp.Or(s.Name, fmt.Sprint("segment-", id))
		key := keyOf(name)
		for t.keys[key] {
			key = fmt.Sprintf("%s-%d", key, id)
		}
		t.keys[key] = true
		out.as = out.condition.segment(key, name)
	}
	return out
}

func (r *rule) addSegment(s *translatedSegment) error {
	switch {
	case s.err != nil:
		return s.err
	case s.as == nil:
		r.clauses = append(r.clauses, s.condition.clauses...)
		r.restrict(s.condition.from, s.condition.until)
	default:
		r.segments[s.as.Key] = s.as
	}
	return nil
}

// addStrategy adds what the strategy itself requires. It reports false if that is nobody.
func (r *rule) addStrategy(s *strategy) (some bool, err error) {
	switch s.Name {
	case "default":
		return true, nil
	case "flexibleRollout":
		return r.addPortion(s.Parameters["rollout"], string(s.Parameters["stickiness"]), s.Parameters["groupId"], true)
	case "gradualRolloutUserId":
		return r.addPortion(s.Parameters["percentage"], userID, s.Parameters["groupId"], false)
	case "gradualRolloutSessionId":
		return r.addPortion(s.Parameters["percentage"], "sessionId", s.Parameters["groupId"], false)
	case "userWithId":
		ids := s.list("userIds")
		if len(ids) > 0 {
			r.addOne(isOneOf(userID, ids), false)
		}
		return len(ids) > 0, nil
	case "remoteAddress":
		addresses := s.list("IPs")
		return len(addresses) > 0, r.addAddresses(addresses)
	case "gradualRolloutRandom":
		return false, errors.New("it decides by chance")
	case "applicationHostname":
		return false, errors.New("it compares the host of the client, which Guidon does not know")
	}
	return false, errors.New("it is a strategy of your own")
}

// list returns the items of a parameter, which are separated by commas. It is not safe for
// concurrent use.
func (s *strategy) list(parameter string) (items []string) {
	if items, known := s.lists[parameter]; known {
		return items
	}
	all := strings.Split(string(s.Parameters[parameter]), ",")
	for i, item := range all {
		if i > 0 {
			item = strings.TrimLeft(item, " \t\r\n")
		}
		if i < len(all)-1 {
			item = strings.TrimRight(item, " \t\r\n")
		}
		if item != "" {
			items = append(items, item)
		}
	}
	if s.lists == nil {
		s.lists = map[string][]string{}
	}
	s.lists[parameter] = items
	return items
}

// addPortion adds a percentage of the values of the property stickiness.
func (r *rule) addPortion(percentage text, stickiness string, group text, grouped bool) (some bool, err error) {
	n, err := strconv.ParseFloat(string(percentage), 64)
	if err != nil || !decimal.MatchString(string(percentage)) {
		return false, fmt.Errorf("%s is not a percentage", guidon.Quote(string(percentage)))
	}
	n = math.Floor(min(n, 100)) // Unleash has 100 parts
	by, err := sticky(stickiness)
	switch {
	case stickiness == "random" && n == 100, n < 1:
		return n == 100, nil
	case err != nil:
		return false, err
	case n == 100 && by == "":
		return true, nil
	case n < 100 && grouped && group == "":
		return false, errNoGroup
	}
	split, err := splitOf(by, string(group))
	r.portion = &guidon.Portion{Percentage: float32(n), Split: split}
	return true, err
}

// sticky returns the property by which a stickiness divides, "" for the entity's id.
func sticky(stickiness string) (by string, err error) {
	switch stickiness {
	case "", "default", userID:
		return "", nil
	case "random":
		return "", errors.New("it is divided by chance (stickiness random)")
	case currentTime:
		return "", errors.New("it is divided by the current time")
	}
	return stickiness, nil
}

var errNoGroup = errors.New("it has no groupId, for which SDKs take different ones")

func splitOf(by, group string) (guidon.Split, error) {
	if !isASCII(group) {
		return guidon.Split{}, errors.New("its groupId has characters outside ASCII, which SDKs hash in different ways")
	}
	return guidon.Split{By: by, Seed: group + ":", Hash: guidon.UnleashHash}, nil
}

// addTo adds rules or a rollout to the flag.
func (r *rule) addTo(flag *guidon.Flag, f *Feature, s *strategy) error {
	keys := slices.Sorted(maps.Keys(r.segments))
	operator := guidon.OrSegments
	if len(keys) > 1 {
		operator = guidon.AndSegments
	}
	if flag.Type == guidon.BooleanFlag {
		flag.Rollouts = append(flag.Rollouts, &guidon.Rollout{
			Segment:    &guidon.RolloutSegment{SegmentKeys: keys, SegmentOperator: operator, Value: true},
			Conditions: r.conditions(r.portion, keys),
		})
		return nil
	}
	d := division{s.Variants, string(s.Parameters["groupId"]), string(s.Parameters["stickiness"])}
	if len(d.variants) == 0 {
		d = division{f.Variants, f.Name, ""}
	}
	if len(d.variants) == 0 {
		return errors.New("it turns the feature on without a variant, and others give variants")
	}
	d.stickiness = cmp.Or(d.variants[0].Stickiness, d.stickiness)
	if err := d.addVariants(flag); err != nil {
		return err
	}
	rules, err := d.rules(r, keys)
	for _, rule := range rules {
		rule.SegmentKeys, rule.SegmentOperator = keys, operator
		flag.Rules = append(flag.Rules, rule)
	}
	return err
}

// division is how the users of a strategy are divided among variants.
type division struct {
	variants          []variant
	group, stickiness string
}

// addVariants adds the variants that the flag does not have yet.
func (d *division) addVariants(flag *guidon.Flag) error {
	for i := range d.variants {
		v := &guidon.Variant{Key: d.variants[i].Name, Name: d.variants[i].Name, Attachment: d.variants[i].Payload.attachment()}
		same := slices.IndexFunc(flag.Variants, func(o *guidon.Variant) bool { return o.Key == v.Key })
		switch {
		case same < 0:
			flag.Variants = append(flag.Variants, v)
		case *flag.Variants[same] != *v:
			return fmt.Errorf("variant %s has different payloads", guidon.Quote(v.Key))
		}
	}
	return nil
}

// attachment returns the payload as JSON.
func (p *payload) attachment() string {
	switch {
	case p == nil:
		return ""
	case (p.Type == "json" || p.Type == "number") && json.Valid([]byte(p.Value)):
		return string(p.Value)
	}
	return string(change.Encode(string(p.Value)))
}

// totalWeight is the sum of the weights of variants in all releases of Unleash since 4.
const totalWeight = 1000

// rules returns the rules that give the variants to those whom r is for: one for each variant with
// overrides, and one that divides.
func (d *division) rules(r *rule, segments []string) (rules []*guidon.Rule, err error) {
	divides := &guidon.Rule{Conditions: r.conditions(r.portion, segments)}
	total := 0.0
	for _, v := range d.variants {
		total += v.Weight
		if v.Weight < 0 || v.Weight != math.Trunc(v.Weight) {
			return nil, fmt.Errorf("variant %s has the weight %v", guidon.Quote(v.Name), v.Weight)
		}
		if v.Weight > 0 {
			share := &guidon.Distribution{VariantID: v.Name, Rollout: float32(v.Weight / (totalWeight / 100))}
			divides.Distributions = append(divides.Distributions, share)
		}
		if len(v.Overrides) > 0 {
			overridden, err := r.overridden(v, segments)
			if err != nil {
				return nil, err
			}
			rules = append(rules, overridden)
		}
	}
	if total != totalWeight {
		return nil, fmt.Errorf("the weights of its variants add up to %v instead of %d", total, totalWeight)
	}
	if len(divides.Distributions) > 1 {
		split, err := d.split(r)
		if err != nil {
			return nil, err
		}
		divides.Split = &split
	}
	return append(rules, divides), nil
}

// overridden returns the rule for those who always get the variant.
func (r *rule) overridden(v variant, segments []string) (*guidon.Rule, error) {
	var any clause
	for _, o := range v.Overrides {
		if o.ContextName == currentTime {
			return nil, errCurrentTime
		}
		any = append(any, isOneOf(o.ContextName, o.Values))
	}
	some := r.condition
	some.clauses = append(slices.Clone(some.clauses), any)
	return &guidon.Rule{
		Conditions: some.conditions(r.portion, segments), Distributions: []*guidon.Distribution{{VariantID: v.Name, Rollout: 100}},
	}, nil
}

// split returns how the variants divide. Unleash gives a variant by chance to a user without the
// property that divides, so the strategy must not be for such users.
func (d *division) split(r *rule) (split guidon.Split, err error) {
	by, err := sticky(d.stickiness)
	switch {
	case err != nil:
		return split, err
	case d.group == "":
		return split, errNoGroup
	case by != "" && (r.portion == nil || r.portion.By != by):
		return split, fmt.Errorf("users without %s get a variant by chance", guidon.Quote(by))
	}
	return splitOf(by, d.group)
}
