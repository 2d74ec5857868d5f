package guidon

import "math/bits"

// murmur3 returns MurmurHash3_x86_32 of the two texts, one after the other.
func murmur3(start uint32, first, second string) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	length := len(first) + len(second)
	at := func(i int) uint32 {
		if i < len(first) {
			return uint32(first[i])
		}
		return uint32(second[i-len(first)])
	}
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*c1, 15) * c2 }
	h, i := start, 0
	for ; i+4 <= length; i += 4 {
		k := at(i) | at(i+1)<<8 | at(i+2)<<16 | at(i+3)<<24
		h = bits.RotateLeft32(h^mix(k), 13)*5 + 0xe6546b64
	}
	if i < length {
		k := uint32(0)
		for j := length - 1; j >= i; j-- {
			k = k<<8 | at(j)
		}
		h ^= mix(k)
	}
	h ^= uint32(length) // #nosec G115 -- as the algorithm does
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
