package codec

import "bytes"

// The most memory that decoding takes, as measured by TestCost: per byte of a body, and
// per member or element, including the maps and lists that hold them.
const (
	costOfByte  = 4
	costOfValue = 256
)

// Cost returns an upper estimate of the memory that decoding the JSON body takes,
// garbage included, in bytes. It uses only the encoded form, but is exact enough to
// distinguish 100 kB of text from 100 kB of empty objects.
func Cost(body []byte) int64 {
	values := bytes.Count(body, comma) + bytes.Count(body, brace) + bytes.Count(body, bracket)
	return costOfByte*int64(len(body)) + costOfValue*int64(values)
}

var comma, brace, bracket = []byte{','}, []byte{'{'}, []byte{'['}
