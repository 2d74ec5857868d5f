package ofrep

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
)

// The marker in a flag's metadata that makes the attachments of its variants the values,
// instead of their keys (OFREP 11). It is never sent.
const (
	valueMarker   = "openfeature.value"
	typedByMarker = `"attachment"`
)

// flagForm is the part of a flag's results that does not depend on the context.
type flagForm struct {
	head     []byte // the start of the result, with the key
	metadata []byte // the members of the flag's own metadata that are sent
	static   bool   // the flag has no rules, rollouts or requirements
	typed    bool   // the values are the attachments
}

// flagForms caches the forms of the flags that have been evaluated.
var flagForms = guidon.NewFlagDerivation(newFlagForm)

func newFlagForm(compiled *guidon.CompiledFlag) *flagForm {
	f := compiled.Flag()
	form := &flagForm{
		head:   jsontext.AppendString([]byte(`{"key":`), f.Key),
		static: len(f.Rules)+len(f.Rollouts)+len(f.Requires) == 0,
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(f.Metadata, &members) != nil {
		return form // not an object
	}
	form.typed = string(members[valueMarker]) == typedByMarker
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case valueMarker, "attachment", "segments":
			continue // the last two are set by the evaluation
		case "unmet":
			if len(f.Requires) > 0 {
				continue // so is this one
			}
		}
		value := flat(members[name])
		if value == nil {
			continue
		}
		if len(form.metadata) > 0 {
			form.metadata = append(form.metadata, ',')
		}
		form.metadata = append(jsontext.AppendString(form.metadata, name), ':')
		form.metadata = append(form.metadata, value...)
	}
	return form
}

// flat returns a JSON value in a form that clients accept in metadata (OFREP 3): a list
// or an object as a string of its JSON, and nil for null.
func flat(value json.RawMessage) []byte {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || value[0] == 'n' {
		return nil
	}
	if value[0] == '{' || value[0] == '[' {
		return jsontext.AppendString(nil, string(value))
	}
	return value
}
