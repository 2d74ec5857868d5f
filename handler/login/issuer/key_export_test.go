package issuer

import (
	"crypto"
	"encoding/json"
)

// ParseKeys returns the public keys in a published key set, and why others are skipped.
func ParseKeys(raw []byte) (public []crypto.PublicKey, skipped []string, err error) {
	var d keyDocument
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, nil, err
	}
	parsed, err := d.parse()
	if err != nil {
		return nil, nil, err
	}
	for _, k := range parsed.all {
		public = append(public, k.public)
	}
	return public, parsed.skipped, nil
}
