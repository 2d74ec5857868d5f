package convert

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/service"
)

// A weight is an upper bound of the encoded size of an object, in bytes, both in JSON
// and in protobuf. It is computed without encoding the object, so that the size of a
// response can be limited before it is built.

// The weight of each kind of object without its strings: field names, times, numbers
// and enums.
const (
	weightOfNamespace      = 224
	weightOfFlag           = 384
	weightOfVariant        = 256
	weightOfRule           = 320
	weightOfDistribution   = 224
	weightOfRollout        = 448
	weightOfSegment        = 320
	weightOfConstraint     = 320
	weightOfChange         = 384
	weightOfAuthentication = 320
	weightOfText           = 16 // in addition, for a string in a list or a map
	weightOfValue          = 32 // in addition, for each value in an object
)

// textWeight returns the weight of the strings.
func textWeight(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += jsontext.SizeOfString(text)
	}
	return n
}

// listWeight returns the weight of a list of strings.
func listWeight(texts []string) int { return textWeight(texts...) + weightOfText*len(texts) }

// jsonWeight returns the weight of JSON that is sent as an object and not as a string:
// protobuf needs a dozen bytes for a value of one digit.
func jsonWeight(text []byte) int {
	values, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // skip the escaped character
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' || c == ':' || c == '[' || c == '{':
			values++
		}
	}
	return len(text) + weightOfValue*values
}

// NamespaceWeight returns the weight of a namespace.
func NamespaceWeight(n *guidon.Namespace) int {
	return weightOfNamespace + textWeight(n.Key, n.Name, n.Description)
}

// FlagWeight returns a function that weighs flags of the namespace.
func FlagWeight(namespaceKey string) func(*guidon.Flag) int {
	namespace := textWeight(namespaceKey)
	return func(f *guidon.Flag) int {
		n := weightOfFlag + namespace + textWeight(f.Key, f.Name, f.Description) + jsonWeight(f.Metadata)
		keys := namespace + textWeight(f.Key)
		for _, v := range f.Variants {
			weight := keys + variantWeight(v)
			if n += weight; v.ID == f.DefaultVariantID {
				n += weight
			}
		}
		return n
	}
}

func variantWeight(v *guidon.Variant) int {
	return weightOfVariant + textWeight(v.ID, v.Key, v.Name, v.Description, v.Attachment)
}

// RuleWeight returns a function that weighs rules of the request's flag.
func RuleWeight(m OfFlag) func(*guidon.Rule) int {
	keys := textWeight(NamespaceOf(m), m.GetFlagKey())
	return func(r *guidon.Rule) int {
		n := weightOfRule + keys + textWeight(r.ID) + listWeight(r.SegmentKeys)
		for _, d := range r.Distributions {
			n += weightOfDistribution + textWeight(d.ID, r.ID, d.VariantID)
		}
		return n
	}
}

// RolloutWeight returns a function that weighs rollouts of the request's flag.
func RolloutWeight(m OfFlag) func(*guidon.Rollout) int {
	keys := textWeight(NamespaceOf(m), m.GetFlagKey())
	return func(r *guidon.Rollout) int {
		n := weightOfRollout + keys + textWeight(r.ID, r.Description)
		if r.Segment != nil {
			n += listWeight(r.Segment.SegmentKeys)
		}
		return n
	}
}

// SegmentWeight returns a function that weighs segments of the namespace.
func SegmentWeight(namespaceKey string) func(*guidon.Segment) int {
	namespace := textWeight(namespaceKey)
	return func(g *guidon.Segment) int {
		n := weightOfSegment + namespace + textWeight(g.Key, g.Name, g.Description)
		keys := namespace + textWeight(g.Key)
		for _, c := range g.Constraints {
			n += weightOfConstraint + keys + textWeight(c.ID, c.Property, c.Operator, c.Value, c.Description)
		}
		return n
	}
}

// ChangeWeight returns the weight of a change record.
func ChangeWeight(c *change.Record) int {
	return weightOfChange + jsonWeight(c.Before) + jsonWeight(c.After) +
		textWeight(c.Namespace, c.Key, c.Actor.ID, c.Actor.Name, c.Actor.Method, c.RequestID)
}

// AuthenticationWeight returns the weight of an authentication.
func AuthenticationWeight(a *service.Authentication) int {
	n := weightOfAuthentication + textWeight(a.ID)
	for name, value := range a.Metadata {
		n += weightOfText + textWeight(name, value)
	}
	return n
}
