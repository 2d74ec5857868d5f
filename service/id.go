package service

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	mathrand "math/rand/v2"
	"sync"
)

// NewID returns a random UUID of version 4 (RFC 9562 5.4), which is the form of all
// identifiers that the service creates. It is safe for concurrent use.
func NewID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	var text [idLength]byte
	putID(text[:], raw)
	return string(text[:])
}

// idOf returns an identifier in the form of NewID that is always the same for the text, and
// does not reveal it.
func idOf(text string) string {
	digest := sha256.Sum256([]byte("guidon: id\x00" + text))
	var id [idLength]byte
	putID(id[:], [16]byte(digest[:16]))
	return string(id[:])
}

// NewRequestID is NewID for requests. It is much cheaper, but the ids can be predicted,
// so they must not serve as secrets.
func NewRequestID() string {
	batch := requestIDs.Get().(*string)
	defer requestIDs.Put(batch)
	if *batch == "" {
		*batch = newIDs()
	}
	id := (*batch)[:idLength]
	*batch = (*batch)[idLength:]
	return id
}

// requestIDs pools concatenated identifiers, which NewRequestID takes one by one.
var requestIDs = sync.Pool{New: func() any { return new(string) }}

// newIDs returns several identifiers in one string, and so in one allocation.
func newIDs() string {
	var text [16 * idLength]byte
	for rest := text[:]; len(rest) > 0; rest = rest[idLength:] {
		var raw [16]byte
		binary.NativeEndian.PutUint64(raw[:8], mathrand.Uint64()) // #nosec G404 -- no secret
		binary.NativeEndian.PutUint64(raw[8:], mathrand.Uint64()) // #nosec G404 -- no secret
		putID(rest, raw)
	}
	return string(text[:])
}

const idLength = 36

// putID writes the identifier with the given random bits to the start of text.
func putID(text []byte, raw [16]byte) {
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	hex.Encode(text[0:8], raw[0:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:36], raw[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
}
