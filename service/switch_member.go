package service

import (
	"bytes"
	"encoding/json"

	"github.com/guidonhq/guidon/change"
)

// OffMember is [change.OffMember].
const OffMember = change.OffMember

// hasOffMember reports whether the metadata have [OffMember].
func hasOffMember(metadata json.RawMessage) bool {
	if !bytes.Contains(metadata, []byte(OffMember)) {
		return false
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(metadata, &members) // stored metadata are an object
	return string(members[OffMember]) == "true"
}

// withOffMember returns the metadata with [OffMember] as their last member.
func withOffMember(metadata json.RawMessage) json.RawMessage {
	member := `"` + OffMember + `":true}`
	others := withoutOffMember(metadata)
	if len(others) <= len("{}") {
		return json.RawMessage("{" + member)
	}
	return append(append(bytes.Clone(others[:len(others)-1]), ','), member...)
}

// withoutOffMember returns the metadata without [OffMember], the other members as they are. It
// returns nil if there are none.
func withoutOffMember(metadata json.RawMessage) json.RawMessage {
	if !bytes.Contains(metadata, []byte(OffMember)) {
		return metadata
	}
	d := json.NewDecoder(bytes.NewReader(metadata))
	_, _ = d.Token() // the brace; stored metadata are an object
	var kept [][]byte
	for d.More() {
		start := d.InputOffset()
		name, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return metadata
		}
		if name != OffMember {
			kept = append(kept, bytes.TrimLeft(metadata[start:d.InputOffset()], ","))
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return append(append([]byte{'{'}, bytes.Join(kept, []byte(","))...), '}')
}
