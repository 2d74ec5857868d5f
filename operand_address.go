package guidon

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
)

// AddressSet is a set of IP addresses. It is safe for concurrent use.
type AddressSet struct {
	blocks map[netip.Prefix]bool // masked
	bits   []int                 // the lengths of the blocks
	listed int                   // addresses and blocks of the array, also if they are the same
}

// ParseAddresses returns the set of the addresses and CIDR blocks of a JSON array.
func ParseAddresses(text string) (*AddressSet, error) {
	var items []string
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return nil, err
	}
	if items == nil {
		return nil, errNoAddresses // null
	}
	s := &AddressSet{blocks: make(map[netip.Prefix]bool, len(items)), listed: len(items)}
	lengths := map[int]bool{}
	for _, item := range items {
		block, err := parseBlock(item)
		if err != nil {
			return nil, err
		}
		s.blocks[block] = true
		if !lengths[block.Bits()] {
			lengths[block.Bits()] = true
			s.bits = append(s.bits, block.Bits())
		}
	}
	return s, nil
}

// parseBlock parses an address or a CIDR block.
func parseBlock(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		address, err := ParseAddress(text)
		return netip.PrefixFrom(address, address.BitLen()), err
	}
	block, err := netip.ParsePrefix(text)
	if address := block.Addr(); address.Is4In6() && block.Bits() >= mappedBits {
		block = netip.PrefixFrom(address.Unmap(), block.Bits()-mappedBits)
	}
	return block.Masked(), err
}

// mappedBits is the length of the block of IPv6 addresses that stand for IPv4 addresses.
const mappedBits = 96

var (
	errNoAddresses = errors.New("not a list of addresses")
	errZone        = errors.New("the address has a zone")
)

// ParseAddress parses an IPv4 or IPv6 address. An IPv4 address may be written as a part of
// IPv6, as in ::ffff:192.0.2.1. A zone is an error.
func ParseAddress(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	if err == nil && address.Zone() != "" {
		err = errZone
	}
	return address.Unmap(), err
}

// has reports whether the value is one of the addresses.
func (s *AddressSet) has(value string) bool {
	address, err := ParseAddress(value)
	if err != nil {
		return false
	}
	for _, bits := range s.bits {
		if block, err := address.Prefix(bits); err == nil && s.blocks[block] {
			return true
		}
	}
	return false
}
