package codec

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// maxFields is the most fields of a message; a test checks the messages.
const maxFields = 64

// firstAddition is the number from which fields are our additions to the messages of
// Flipt v1. They are omitted if unset, because strict clients reject unknown fields.
const firstAddition = 1000

// shape distinguishes the messages with a JSON form of their own.
type shape uint8

const (
	ordinary shape = iota
	empty
	timestamp
	duration
	structure
	anyValue
	listValue
)

var shapes = map[protoreflect.FullName]shape{
	"google.protobuf.Empty":     empty,
	"google.protobuf.Timestamp": timestamp,
	"google.protobuf.Duration":  duration,
	"google.protobuf.Struct":    structure,
	"google.protobuf.Value":     anyValue,
	"google.protobuf.ListValue": listValue,
}

// contexts are the maps of strings that are read like the context of OFREP: their values may
// be of any kind.
var contexts = map[protoreflect.FullName]bool{
	"guidon.v1.ExplainRequest.context":        true,
	"guidon.v1.ExplainEntity.context":         true,
	"guidon.v1.ExplainSegmentRequest.context": true,
	"guidon.v1.ExplainFlagsRequest.context":   true,
}

// IsContext reports whether the field is an evaluation context, whose values may be of any
// kind in JSON, as in OFREP.
func IsContext(field protoreflect.FieldDescriptor) bool { return contexts[field.FullName()] }

// plan is the data for encoding and decoding one type of message.
type plan struct {
	shape  shape
	fields []field // in the order of declaration
	byName map[string]spelling
	share  protoreflect.FieldDescriptor // of shares, or nil
	ignore []string                     // fields that it does not have and that are no mistake
}

type field struct {
	desc   protoreflect.FieldDescriptor
	label  string // the quoted name and its colon
	sparse bool   // omitted from a response if unset
}

// spelling is one name of a field.
type spelling struct {
	index int
	camel bool // the name in camelCase, which takes precedence
}

// plans caches the plan of every message type used. Its size is limited by the number of
// message types linked into the program.
var plans sync.Map // protoreflect.MessageDescriptor to *plan

func planOf(message protoreflect.MessageDescriptor) *plan {
	if known, ok := plans.Load(message); ok {
		return known.(*plan)
	}
	known, _ := plans.LoadOrStore(message, newPlan(message))
	return known.(*plan)
}

func newPlan(message protoreflect.MessageDescriptor) *plan {
	all := message.Fields()
	p := &plan{
		shape:  shapes[message.FullName()],
		fields: make([]field, all.Len()),
		byName: make(map[string]spelling, 2*all.Len()),
		share:  all.ByName(shares[message.FullName()]),
		ignore: returned[message.FullName()],
	}
	for i := range p.fields {
		desc := all.Get(i)
		p.fields[i] = field{
			desc:   desc,
			label:  string(jsontext.AppendString(nil, desc.JSONName())) + ":",
			sparse: desc.HasPresence() || desc.Number() >= firstAddition,
		}
		p.byName[desc.TextName()] = spelling{index: i}
	}
	for i := range p.fields { // last, so that a name with only one spelling counts as camelCase
		p.byName[p.fields[i].desc.JSONName()] = spelling{index: i, camel: true}
	}
	return p
}
