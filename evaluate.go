package guidon

import "errors"

// Reason explains the result of an evaluation (contract 7.7).
type Reason uint8

// Reasons.
const (
	ReasonUnknown      Reason = iota // nothing matched and there is no default variant
	ReasonFlagDisabled               // the variant flag is disabled, or a flag that it requires does not answer so
	ReasonMatch                      // a rule or rollout matched
	ReasonDefault                    // the default variant, or a boolean flag's own value
)

// VariantResult is the result of evaluating a variant flag.
type VariantResult struct {
	Match       bool
	Reason      Reason
	Rule        int32    // the number of the rule that matched, from 1, or 0
	VariantKey  string   // empty if there is no variant
	Attachment  string   // compact JSON, or empty
	SegmentKeys []string // the segments that matched, or nil; must not be modified
	Bucketed    bool     // the entity's id was hashed: without one the result is meaningless
	Divided     bool     // the rule that matched is for a share, or has several
	Unmet       string   // the key of the first flag that the flag requires and that does not answer so, or ""
}

// BooleanResult is the result of evaluating a boolean flag.
type BooleanResult struct {
	Enabled     bool
	Reason      Reason
	Rule        int32    // the number of the rollout that matched, from 1, or 0
	SegmentKeys []string // the segments that matched, or nil; must not be modified
	Bucketed    bool     // the entity's id was hashed: without one the result is meaningless
	Divided     bool     // the rollout that matched is for a share, or a threshold after one
	Unmet       string   // as in VariantResult
}

// Variant evaluates a variant flag for an entity. It returns NotFound if the flag does
// not exist, and the errors of [CompiledFlag.Variant].
func (s *Snapshot) Variant(flagKey, entityID string, context map[string]string) (VariantResult, error) {
	f := s.flagByKey.get(flagKey)
	if f == nil {
		return VariantResult{}, FlagNotFound(s.namespace.Key, flagKey)
	}
	return f.Variant(entityID, context)
}

// Variant evaluates a variant flag for an entity (contract 7.5). It returns
// [CompiledFlag.Err] if there is one, and InvalidArgument if the flag is of another type, or
// if a segment that it needs has a constraint of an unknown type.
//
// The result depends only on the flag and the arguments, which are not retained.
func (f *CompiledFlag) Variant(entityID string, context map[string]string) (VariantResult, error) {
	if f.kind != VariantFlag {
		return VariantResult{}, f.wrongType()
	}
	result := VariantResult{}
	if v := f.defaultVariant; v != nil {
		result = VariantResult{Reason: ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
	}
	if f.enabled && f.requires != nil {
		var err error
		if result.Unmet, err = Unmet(f.requires, entityID, context, &result.Bucketed); err != nil {
			return VariantResult{}, err
		}
	}
	if !f.enabled || result.Unmet != "" {
		// Quirk (contract 7.5.3): the result keeps the default variant.
		result.Reason = ReasonFlagDisabled
		return result, nil
	}
	for i := range f.rules {
		matched, err := f.rules[i].audience.Match(entityID, context)
		if err != nil {
			return VariantResult{}, err
		}
		if matched == nil {
			continue
		}
		if c := f.rules[i].conditions; c != nil {
			met, err := c.Met(entityID, context, &result.Bucketed)
			if err != nil {
				return VariantResult{}, err
			}
			if !met {
				continue
			}
			result.Divided = c.divided()
		}
		result.SegmentKeys, result.Rule = matched, int32(i+1) // #nosec G115 -- a flag has fewer rules
		return f.distribute(&f.rules[i], entityID, context, result), nil
	}
	return result, nil
}

// distribute completes the result by the first rule that matched. Later rules are not
// tried, even if this one gives no variant.
func (f *CompiledFlag) distribute(r *compiledRule, entityID string, context map[string]string, result VariantResult) VariantResult {
	if r.codeDefault {
		return VariantResult{Reason: ReasonDefault, Rule: result.Rule, SegmentKeys: result.SegmentKeys, Bucketed: result.Bucketed}
	}
	if len(r.ranges) == 0 {
		// Quirk (contract 7.5.5.3): a match without a variant, or with the default one.
		result.Match, result.Reason = true, ReasonMatch
		return result
	}
	bucket, by := 0, ""
	if c := r.conditions; c == nil || c.Split == nil {
		bucket = variantBucket(f.hash, entityID)
	} else {
		value, _ := c.Split.Value(entityID, context)
		bucket, by = c.Split.Bucket(value), c.Split.By
	}
	divided := r.ranges[0].end < r.conditions.buckets() // otherwise all entities get the first variant
	result.Bucketed = result.Bucketed || divided && by == ""
	result.Divided = result.Divided || divided
	chosen := r.rangeOf(bucket)
	if chosen == nil {
		// Quirk (contract 7.5.5.8): no match, yet later rules are not tried and the
		// result names the segments of this one.
		return result
	}
	result.Match, result.Reason = true, ReasonMatch
	result.VariantKey, result.Attachment = chosen.key, chosen.attachment
	return result
}

// Boolean evaluates a boolean flag for an entity. It returns NotFound if the flag does
// not exist, and the errors of [CompiledFlag.Boolean].
func (s *Snapshot) Boolean(flagKey, entityID string, context map[string]string) (BooleanResult, error) {
	f := s.flagByKey.get(flagKey)
	if f == nil {
		return BooleanResult{}, FlagNotFound(s.namespace.Key, flagKey)
	}
	return f.Boolean(entityID, context)
}

// Boolean evaluates a boolean flag for an entity (contract 7.6). It returns
// [CompiledFlag.Err] if there is one, and InvalidArgument if the flag is of another type, or
// if a segment that it needs has a constraint of an unknown type.
//
// The result depends only on the flag and the arguments, which are not retained.
func (f *CompiledFlag) Boolean(entityID string, context map[string]string) (BooleanResult, error) {
	if f.kind != BooleanFlag {
		return BooleanResult{}, f.wrongType()
	}
	// Quirk (contract 7.6): the rollouts of a disabled flag apply. Enabled is only its
	// value if none of them matches.
	bucketed, divided := false, false
	if f.requires != nil {
		switch key, err := Unmet(f.requires, entityID, context, &bucketed); {
		case err != nil:
			return BooleanResult{}, err
		case key != "":
			return BooleanResult{Reason: ReasonDefault, Bucketed: bucketed, Unmet: key}, nil
		}
	}
	for i := range f.rollouts {
		r, number := &f.rollouts[i], int32(i+1) // #nosec G115 -- a flag has fewer rollouts
		if r.share != nil {
			bucketed, divided = bucketed || r.share.divides(), divided || r.share.partial()
			if r.share.Has(entityID, context) {
				return BooleanResult{Enabled: r.value, Reason: ReasonMatch, Rule: number, Bucketed: bucketed, Divided: divided}, nil
			}
			continue
		}
		if r.audience == nil {
			partial := r.percentage > 0 && r.percentage < 100 // otherwise it matches all entities or none
			bucketed, divided = bucketed || partial, divided || partial
			if float32(booleanBucket(f.key, entityID)) < r.percentage {
				return BooleanResult{Enabled: r.value, Reason: ReasonMatch, Rule: number, Bucketed: bucketed, Divided: divided}, nil
			}
			continue
		}
		matched, err := r.audience.Match(entityID, context)
		if err != nil {
			return BooleanResult{}, err
		}
		if matched == nil {
			continue
		}
		if r.conditions != nil {
			met, err := r.conditions.Met(entityID, context, &bucketed)
			if err != nil {
				return BooleanResult{}, err
			}
			if !met {
				continue
			}
		}
		return BooleanResult{
			Enabled: r.value, Reason: ReasonMatch, Rule: number, SegmentKeys: matched, Bucketed: bucketed, Divided: r.conditions.divided(),
		}, nil
	}
	return BooleanResult{Enabled: f.enabled, Reason: ReasonDefault, Bucketed: bucketed}, nil
}

// wrongType returns the error of an evaluation that does not support flags of this kind.
func (f *CompiledFlag) wrongType() error {
	if f.err != nil {
		return f.err
	}
	return WrongFlagType(f.kind)
}

// Errors of evaluations of flags of the other type (contract 7.5, 7.6).
var (
	errVariantFlag = Errorf(InvalidArgument, "flag type %s invalid", VariantFlag)
	errBooleanFlag = Errorf(InvalidArgument, "flag type %s invalid", BooleanFlag)
)

// WrongFlagType returns the InvalidArgument error of an evaluation that does not
// support flags of type t.
func WrongFlagType(t FlagType) error {
	if t == BooleanFlag {
		return errBooleanFlag
	}
	return errVariantFlag
}

// IsWrongFlagType reports whether err is, or wraps, an error of [WrongFlagType].
func IsWrongFlagType(err error) bool {
	return errors.Is(err, errVariantFlag) || errors.Is(err, errBooleanFlag)
}

// FlagNotFound is the error for a flag that does not exist.
func FlagNotFound(namespace, key string) error {
	return Errorf(NotFound, "flag %q not found", namespace+"/"+key)
}
