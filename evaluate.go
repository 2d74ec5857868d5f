package guidon

import "errors"

// Reason says why an evaluation answered as it did.
type Reason uint8

// The reasons.
const (
	ReasonUnknown      Reason = iota // nothing matched and there is no default variant
	ReasonFlagDisabled               // a variant flag that is switched off
	ReasonMatch                      // a rule or rollout decided
	ReasonDefault                    // the default variant, or a boolean flag's own value
)

// VariantResult is the answer of a variant flag.
type VariantResult struct {
	Match       bool
	Reason      Reason
	VariantKey  string
	Attachment  string   // compact JSON text, or nothing
	SegmentKeys []string // those that matched, nil for none; not to be changed
	Bucketed    bool     // the bucket of the entity was asked: without its id the answer says nothing
}

// BooleanResult is the answer of a boolean flag.
type BooleanResult struct {
	Enabled     bool
	Reason      Reason
	SegmentKeys []string // those that matched, nil for none; not to be changed
	Bucketed    bool     // the bucket of the entity was asked: without its id the answer says nothing
}

// Variant evaluates a variant flag for an entity. It returns NotFound for an
// unknown flag, and the errors of [CompiledFlag.Variant].
func (s *Snapshot) Variant(flagKey, entityID string, context map[string]string) (VariantResult, error) {
	f := s.flagByKey[flagKey]
	if f == nil {
		return VariantResult{}, FlagNotFound(s.namespace.Key, flagKey)
	}
	return f.Variant(entityID, context)
}

// Variant evaluates a variant flag for an entity (contract 7.5). It returns
// InvalidArgument for a flag of another type, and when a segment that it has to ask
// holds a constraint of an unknown type.
//
// The answer depends on the arguments alone. They are not kept.
func (f *CompiledFlag) Variant(entityID string, context map[string]string) (VariantResult, error) {
	if f.kind != VariantFlag {
		return VariantResult{}, WrongFlagType(f.kind)
	}
	result := VariantResult{}
	if v := f.initial; v != nil {
		result = VariantResult{Reason: ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
	}
	if !f.enabled {
		// Quirk (contract 7.5.3): the default variant stays in the answer.
		result.Reason = ReasonFlagDisabled
		return result, nil
	}
	for i := range f.rules {
		matched, err := f.rules[i].audience.match(entityID, context)
		if err != nil {
			return VariantResult{}, err
		}
		if matched != nil {
			result.SegmentKeys = matched
			return f.distribute(&f.rules[i], entityID, result), nil
		}
	}
	return result, nil
}

// distribute completes the answer by the rule that matched, which has the last
// word even when it leads nowhere.
func (f *CompiledFlag) distribute(r *compiledRule, entityID string, result VariantResult) VariantResult {
	if len(r.ranges) == 0 {
		// Quirk (contract 7.5.5.3): a match without a variant, or with the default one.
		result.Match, result.Reason = true, ReasonMatch
		return result
	}
	result.Bucketed = r.ranges[0].end < variantBuckets // otherwise the first variant has everyone
	chosen := r.rangeOf(variantBucket(f.hash, entityID))
	if chosen == nil {
		// Quirk (contract 7.5.5.8): no match, yet later rules are not tried and
		// the segments of this one are named.
		return result
	}
	result.Match, result.Reason = true, ReasonMatch
	result.VariantKey, result.Attachment = chosen.key, chosen.attachment
	return result
}

// Boolean evaluates a boolean flag for an entity. It returns NotFound for an
// unknown flag, and the errors of [CompiledFlag.Boolean].
func (s *Snapshot) Boolean(flagKey, entityID string, context map[string]string) (BooleanResult, error) {
	f := s.flagByKey[flagKey]
	if f == nil {
		return BooleanResult{}, FlagNotFound(s.namespace.Key, flagKey)
	}
	return f.Boolean(entityID, context)
}

// Boolean evaluates a boolean flag for an entity (contract 7.6). It returns
// InvalidArgument for a flag of another type, and when a segment that it has to ask
// holds a constraint of an unknown type.
//
// The answer depends on the arguments alone. They are not kept.
func (f *CompiledFlag) Boolean(entityID string, context map[string]string) (BooleanResult, error) {
	if f.kind != BooleanFlag {
		return BooleanResult{}, WrongFlagType(f.kind)
	}
	// Quirk (contract 7.6): a flag that is switched off has rollouts all the
	// same; Enabled is only what it answers when none of them decides.
	bucketed := false
	for i := range f.rollouts {
		r := &f.rollouts[i]
		if r.audience == nil {
			bucketed = bucketed || r.percentage > 0 && r.percentage < 100 // otherwise it has everyone, or nobody
			if float32(booleanBucket(f.key, entityID)) < r.percentage {
				return BooleanResult{Enabled: r.value, Reason: ReasonMatch, Bucketed: bucketed}, nil
			}
			continue
		}
		matched, err := r.audience.match(entityID, context)
		if err != nil {
			return BooleanResult{}, err
		}
		if matched != nil {
			return BooleanResult{Enabled: r.value, Reason: ReasonMatch, SegmentKeys: matched, Bucketed: bucketed}, nil
		}
	}
	return BooleanResult{Enabled: f.enabled, Reason: ReasonDefault, Bucketed: bucketed}, nil
}

// The errors of evaluations by the operation for flags of the other type (contract
// 7.5, 7.6).
var (
	errVariantFlag = Errorf(InvalidArgument, "flag type %s invalid", VariantFlag)
	errBooleanFlag = Errorf(InvalidArgument, "flag type %s invalid", BooleanFlag)
)

// WrongFlagType returns the InvalidArgument of an evaluation that is not for flags
// of the type.
func WrongFlagType(t FlagType) error {
	if t == BooleanFlag {
		return errBooleanFlag
	}
	return errVariantFlag
}

// IsWrongFlagType tells whether the error is one of [WrongFlagType].
func IsWrongFlagType(err error) bool {
	return errors.Is(err, errVariantFlag) || errors.Is(err, errBooleanFlag)
}

// FlagNotFound is the error for a flag that does not exist.
func FlagNotFound(namespace, key string) error {
	return Errorf(NotFound, "flag %q not found", namespace+"/"+key)
}
