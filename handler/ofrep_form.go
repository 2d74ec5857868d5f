package handler

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
)

// The marker in a flag's metadata by which its variants answer their attachments
// in the place of their keys (OFREP 11). It is never sent.
const (
	ofrepValueMarker   = "openfeature.value"
	ofrepTypedByMarker = `"attachment"`
)

// flagForm is what of the answers of a flag is the same for everybody.
type flagForm struct {
	head     []byte // the answer's beginning, with the key
	metadata []byte // the members of the flag's own metadata that are sent
	static   bool   // there is no rule or rollout
	typed    bool   // the values are the attachments
}

// flagForms are the forms of the flags that have been asked for.
var flagForms = guidon.NewFlagDerivation(newFlagForm)

func newFlagForm(f *guidon.Flag) *flagForm {
	form := &flagForm{
		head:   codec.AppendString([]byte(`{"key":`), f.Key),
		static: len(f.Rules) == 0 && len(f.Rollouts) == 0,
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(f.Metadata, &members) != nil {
		return form // no object, no metadata
	}
	form.typed = string(members[ofrepValueMarker]) == ofrepTypedByMarker
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case ofrepValueMarker, "attachment", "segments":
			continue // the last two say what the evaluation found
		}
		value := flat(members[name])
		if value == nil {
			continue
		}
		if len(form.metadata) > 0 {
			form.metadata = append(form.metadata, ',')
		}
		form.metadata = append(codec.AppendString(form.metadata, name), ':')
		form.metadata = append(form.metadata, value...)
	}
	return form
}

// flat returns a JSON value as clients accept it in metadata: a list or an
// object as the text of its JSON, nothing for null (OFREP 3).
func flat(value json.RawMessage) []byte {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || value[0] == 'n' {
		return nil
	}
	if value[0] == '{' || value[0] == '[' {
		return codec.AppendString(nil, string(value))
	}
	return value
}
