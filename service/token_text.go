package service

import (
	"crypto/rand"
	"encoding/base64"
	"hash/crc32"
)

// tokenPrefix makes tokens of this service recognizable in logs and repositories, for
// people and secret scanners.
const tokenPrefix = "gdn_"

// newToken returns a random client token.
func newToken() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return TokenOf(raw)
}

// TokenOf returns the client token of 256 secret bits: the prefix, the bits in URL-safe
// base64, and a checksum (operations 1.4). Tokens are found by their hash whatever their
// form, so those of earlier releases, of a Flipt v1 and of the configuration remain valid.
func TokenOf(raw [32]byte) string {
	secret := tokenPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return secret + tokenChecksum(secret)
}

const (
	checksumDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	checksumLength = 6 // 62^6 exceeds 2^32
)

// tokenChecksum returns the CRC-32 (IEEE) of the text in base 62, as six digits. It lets a
// scanner distinguish a token from a text that only resembles one, without a request.
func tokenChecksum(text string) string {
	var digits [checksumLength]byte
	rest := crc32.ChecksumIEEE([]byte(text))
	for i := range digits {
		digits[len(digits)-1-i] = checksumDigits[rest%uint32(len(checksumDigits))]
		rest /= uint32(len(checksumDigits))
	}
	return string(digits[:])
}
