package limit

import (
	"net/netip"
	"slices"
	"strings"
)

// Caller is where a request comes from.
type Caller struct {
	// Address is without a zone, and is an IPv4 address if it is one in either form. It
	// is the zero Addr if it is not known.
	Address netip.Addr
	// Local reports whether the caller is on this machine. What a proxy elsewhere says
	// about a caller does not make it local.
	Local bool
}

// Proxies are the networks of proxies that are trusted: what they say in X-Forwarded-For
// is believed. A Proxies is safe for concurrent use.
type Proxies []netip.Prefix

// maxHops limits how many entries of X-Forwarded-For are read. No request passes through
// more proxies.
const maxHops = 32

// Caller returns the caller of a request. connection is the address of the connection,
// with or without a port. forwarded are the values of X-Forwarded-For, to which each proxy
// appends the address that it received the request from.
//
// The caller is the last of these addresses, that of the connection included, that is not
// a trusted proxy: whatever is before it may be made up by the caller. If all are trusted
// proxies, it is the first. Something that is not an address hides all that is before it.
// The caller is then the proxy that has appended it.
func (p Proxies) Caller(connection string, forwarded []string) Caller {
	current, _ := parse(connection)
	local := current.IsLoopback()
	list, more := strings.Join(forwarded, ","), len(forwarded) > 0
	for range maxHops {
		if !more || !p.trust(current) {
			break
		}
		comma := strings.LastIndexByte(list, ',')
		before, ok := parse(list[comma+1:])
		if !ok {
			break
		}
		current, list, more = before, list[:max(comma, 0)], comma >= 0
	}
	return Caller{Address: current, Local: local && current.IsLoopback()}
}

func (p Proxies) trust(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// parse returns the address in one of the forms that proxies and net/http write: an IP
// address or, in brackets, an IPv6 address, with or without a port.
func parse(text string) (netip.Addr, bool) {
	text = strings.Trim(text, " \t")
	address, err := netip.ParseAddr(text)
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		address = withPort.Addr()
	}
	if err != nil {
		inner, opened := strings.CutPrefix(text, "[")
		inner, closed := strings.CutSuffix(inner, "]")
		address, err = netip.ParseAddr(inner)
		if !opened || !closed || !address.Is6() {
			return netip.Addr{}, false
		}
	}
	return address.Unmap().WithZone(""), err == nil
}
