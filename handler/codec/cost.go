package codec

import "bytes"

// What decoding takes at most, by measurement (TestCost): for each byte of a body, and
// for each of its members and elements, with the maps and lists that hold them.
const (
	costOfByte  = 4
	costOfValue = 256
)

// Cost returns an upper estimate of the memory, in bytes, that decoding the JSON body
// takes, garbage included. It looks at the encoded form only, and is exact enough to
// tell 100 kB of text from 100 kB of empty objects.
func Cost(body []byte) int64 {
	values := bytes.Count(body, comma) + bytes.Count(body, brace) + bytes.Count(body, bracket)
	return costOfByte*int64(len(body)) + costOfValue*int64(values)
}

var comma, brace, bracket = []byte{','}, []byte{'{'}, []byte{'['}
