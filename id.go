package guidon

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	mathrand "math/rand/v2"
)

// NewID returns a random UUID of version 4 (RFC 9562 5.4), the form of every
// identifier that the service hands out.
func NewID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return formatID(raw)
}

// NewRequestID is NewID for what names a request and is not kept: it costs a
// fraction, and need not be hard to guess.
func NewRequestID() string {
	var raw [16]byte
	binary.NativeEndian.PutUint64(raw[:8], mathrand.Uint64()) // #nosec G404 -- no secret
	binary.NativeEndian.PutUint64(raw[8:], mathrand.Uint64()) // #nosec G404 -- no secret
	return formatID(raw)
}

func formatID(raw [16]byte) string {
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[0:8], raw[0:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:36], raw[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
