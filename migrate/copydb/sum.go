package copydb

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// sum is a checksum of a set of rows. It does not depend on their order, because databases
// may sort strings differently.
type sum struct {
	rows  int64
	lanes [4]uint64 // the sum of the rows' hashes, lane by lane
}

// add adds a row and returns its size in bytes.
func (s *sum) add(values []any) int {
	var encoded []byte
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			encoded = binary.BigEndian.AppendUint64(append(encoded, 'i'), uint64(v)) // #nosec G115 -- only its bits matter
		case string:
			encoded = binary.BigEndian.AppendUint64(append(encoded, 't'), uint64(len(v)))
			encoded = append(encoded, v...)
		default:
			encoded = append(encoded, 'n')
		}
	}
	digest := sha256.Sum256(encoded)
	for i := range s.lanes {
		s.lanes[i] += binary.BigEndian.Uint64(digest[8*i:])
	}
	s.rows++
	return len(encoded)
}

// String returns the checksum in hexadecimal.
func (s *sum) String() string {
	var raw []byte
	for _, lane := range s.lanes {
		raw = binary.BigEndian.AppendUint64(raw, lane)
	}
	return hex.EncodeToString(raw)
}
