package convert

import (
	"reflect"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/service"
)

// A weight is an upper bound of the encoded size of an object, in bytes, both in JSON
// and in protobuf. It is computed without encoding the object, so that the size of a
// response can be limited before it is built. It includes every field of the object, by
// reflection, so that a new field is not forgotten.

// weights are those of objects without their strings: field names, times, numbers and
// enums.
var weights = map[reflect.Type]int{
	reflect.TypeFor[guidon.Namespace]():       264,
	reflect.TypeFor[guidon.Flag]():            384,
	reflect.TypeFor[guidon.Variant]():         256,
	reflect.TypeFor[guidon.Rule]():            320,
	reflect.TypeFor[guidon.Distribution]():    224,
	reflect.TypeFor[guidon.Rollout]():         448, // with its segment or threshold
	reflect.TypeFor[guidon.Conditions]():      32,
	reflect.TypeFor[guidon.ConstraintGroup](): 64,
	reflect.TypeFor[guidon.Portion]():         64,
	reflect.TypeFor[guidon.Requirement]():     32,
	reflect.TypeFor[guidon.Split]():           64,
	reflect.TypeFor[guidon.Ramp]():            256,
	reflect.TypeFor[guidon.RampStep]():        64,
	reflect.TypeFor[guidon.RampConfirm]():     128,
	reflect.TypeFor[guidon.Segment]():         320,
	reflect.TypeFor[guidon.Constraint]():      320,
	reflect.TypeFor[change.Record]():          1216, // with its actor and its summary
	reflect.TypeFor[change.Reason]():          448,  // with its text, which repeats the namespace
	reflect.TypeFor[service.Authentication](): 320,
}

const (
	weightOfText  = 16 // in addition, for a string in a list or a map
	weightOfValue = 32 // in addition, for each value in an object of JSON
)

// Weight returns a function that weighs objects. The keys are those of the objects around
// them, which the messages of the objects repeat.
func Weight[T any](keys ...string) func(*T) int {
	above := 0
	for _, key := range keys {
		above += jsontext.SizeOfString(key)
	}
	return func(object *T) int { return weigh(reflect.ValueOf(object), above) }
}

// FlagWeight returns a function that weighs flags of the namespace.
func FlagWeight(namespaceKey string) func(*guidon.Flag) int {
	weigh, weighVariant := Weight[guidon.Flag](namespaceKey), Weight[guidon.Variant](namespaceKey)
	return func(f *guidon.Flag) int {
		n := weigh(f)
		if v := f.DefaultVariant(); v != nil { // the message has it twice
			n += weighVariant(v) + jsontext.SizeOfString(f.Key)
		}
		return n
	}
}

// weigh returns the weight of a value. above is that of the keys of all objects around it.
func weigh(v reflect.Value, above int) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return weigh(v.Elem(), above)
		}
	case reflect.String:
		return jsontext.SizeOfString(v.String())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return jsonWeight(v.Bytes())
		}
		for i := range v.Len() {
			n += weightOfText + weigh(v.Index(i), above)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			n += weightOfText + weigh(entries.Key(), above) + weigh(entries.Value(), above)
		}
	case reflect.Struct:
		return weighObject(v, above)
	}
	return n
}

func weighObject(v reflect.Value, above int) int {
	s := shapeOf(v.Type())
	n, below := s.weight, above
	if s.named {
		n += above
	}
	for _, i := range s.names {
		below += jsontext.SizeOfString(v.Field(i).String())
	}
	for _, i := range s.fields {
		n += weigh(v.Field(i), below)
	}
	return n
}

// shape has the properties of a type of objects.
type shape struct {
	weight int
	named  bool  // it is a message of its own, which repeats the keys of the objects around it
	names  []int // the fields with its key or id, which the messages of its parts repeat
	fields []int // the fields whose size varies
}

var shapes sync.Map // of reflect.Type to *shape

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	s := &shape{}
	s.weight, s.named = weights[t]
	for i := range t.NumField() {
		f := t.Field(i)
		if s.named && (f.Name == "Key" || f.Name == "ID") {
			s.names = append(s.names, i)
		}
		switch f.Type.Kind() {
		case reflect.String, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Struct:
			if f.Type != reflect.TypeFor[time.Time]() {
				s.fields = append(s.fields, i)
			}
		}
	}
	shapes.Store(t, s)
	return s
}

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
