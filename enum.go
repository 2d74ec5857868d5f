package guidon

import (
	"bytes"
	"fmt"
)

// Enums are stored by name, so that a row or a change record can be read without this
// source. The names are those of the wire (contract 2).

var (
	flagTypeNames        = []string{"VARIANT_FLAG_TYPE", "BOOLEAN_FLAG_TYPE"}
	matchTypeNames       = []string{"ALL_MATCH_TYPE", "ANY_MATCH_TYPE"}
	segmentOperatorNames = []string{"OR_SEGMENT_OPERATOR", "AND_SEGMENT_OPERATOR"}
	rolloutTypeNames     = []string{"UNKNOWN_ROLLOUT_TYPE", "SEGMENT_ROLLOUT_TYPE", "THRESHOLD_ROLLOUT_TYPE"}
)

// String returns the wire name, or the number if it has none.
func (t FlagType) String() string { return enumName(flagTypeNames, t) }

// String returns the wire name, or the number if it has none.
func (t MatchType) String() string { return enumName(matchTypeNames, t) }

// String returns the wire name, or the number if it has none.
func (o SegmentOperator) String() string { return enumName(segmentOperatorNames, o) }

// String returns the wire name, or the number if it has none.
func (t RolloutType) String() string { return enumName(rolloutTypeNames, t) }

// Known reports whether the value is one of the constants.
func (t FlagType) Known() bool { return int(t) < len(flagTypeNames) }

// Known reports whether the value is one of the constants.
func (t MatchType) Known() bool { return int(t) < len(matchTypeNames) }

// Known reports whether the value is one of the constants.
func (o SegmentOperator) Known() bool { return int(o) < len(segmentOperatorNames) }

// MarshalText returns the wire name, or an error if it has none.
func (t FlagType) MarshalText() ([]byte, error) {
	for _, m := range flagMarks {
		if t&m.bit != 0 {
			name, err := marshalEnum(flagTypeNames, t&^m.bit)
			return append(name, m.mark...), err
		}
	}
	return marshalEnum(flagTypeNames, t)
}

// MarshalText returns the wire name, or an error if it has none.
func (t MatchType) MarshalText() ([]byte, error) { return marshalEnum(matchTypeNames, t) }

// MarshalText returns the wire name, or an error if it has none.
func (o SegmentOperator) MarshalText() ([]byte, error) { return marshalEnum(segmentOperatorNames, o) }

// UnmarshalText sets t by its wire name. Anything else is an error.
func (t *FlagType) UnmarshalText(text []byte) error {
	for _, m := range flagMarks {
		if name, marked := bytes.CutSuffix(text, []byte(m.mark)); marked {
			err := unmarshalEnum(flagTypeNames, t, name)
			*t |= m.bit
			return err
		}
	}
	return unmarshalEnum(flagTypeNames, t, text)
}

// UnmarshalText sets t by its wire name. Anything else is an error.
func (t *MatchType) UnmarshalText(text []byte) error { return unmarshalEnum(matchTypeNames, t, text) }

// UnmarshalText sets o by its wire name. Anything else is an error.
func (o *SegmentOperator) UnmarshalText(text []byte) error {
	return unmarshalEnum(segmentOperatorNames, o, text)
}

func enumName[E ~uint8](names []string, value E) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%d", uint8(value))
}

func marshalEnum[E ~uint8](names []string, value E) ([]byte, error) {
	if int(value) >= len(names) {
		return nil, fmt.Errorf("enum value %d has no name", uint8(value))
	}
	return []byte(names[value]), nil
}

func unmarshalEnum[E ~uint8](names []string, value *E, text []byte) error {
	for i, name := range names {
		if name == string(text) {
			*value = E(i) // #nosec G115 -- fewer than ten names
			return nil
		}
	}
	return fmt.Errorf("unknown enum name %q", text)
}
