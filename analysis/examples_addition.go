package analysis

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
)

// appendVersions appends the versions, and one in each gap between them and around them.
func (e *examples) appendVersions(values []string) []string {
	if len(e.versions) == 0 {
		return values
	}
	values = append(append(values, e.versions...), "0.0.0")
	for _, v := range e.versions {
		values = append(values, versionsAround(v)...)
	}
	return append(values, "0.0.0-0")
}

// maxVersionNumber is the largest number of a version.
const maxVersionNumber = 1e18 - 1

// versionsAround returns versions before or after a valid one. The least version that is
// after it is among them.
func versionsAround(text string) []string {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "+")
	release, _, prerelease := strings.Cut(text, "-")
	if prerelease {
		return []string{release, text + ".0"}
	}
	numbers := append(strings.Split(release, "."), "0", "0")[:3]
	before := strings.Join(numbers, ".") + "-0"
	for i, number := range slices.Backward(numbers) {
		if n, _ := strconv.ParseInt(number, 10, 64); n < maxVersionNumber {
			numbers[i] = strconv.FormatInt(n+1, 10)
			next := strings.Join(numbers, ".")
			return []string{next, next + "-0", before}
		}
		numbers[i] = "0"
	}
	return []string{before}
}

// addList adds the items of a list.
func (e *examples) addList(texts []string) {
	if slices.ContainsFunc(e.lists, func(l []string) bool { return slices.Equal(l, texts) }) {
		return
	}
	e.lists = append(e.lists, texts)
	e.items = append(e.items, texts...)
	slices.Sort(e.items)
	e.items = slices.Compact(e.items)
}

// appendLists appends each list, all items together, each item by itself, and the empty list.
func (e *examples) appendLists(values []string) []string {
	if e.kinds&comparesItems == 0 {
		return values
	}
	for _, item := range e.items {
		if item == "" || strings.Contains(item, "[") { // as a text it would be something else
			item = listForm([]string{item})
		}
		values = append(values, item)
	}
	for _, list := range e.lists {
		values = append(values, listForm(list))
	}
	return append(values, listForm(e.items), "[]")
}

// listForm returns the texts as a JSON array.
func listForm(texts []string) string {
	form, _ := json.Marshal(texts) // cannot fail for texts
	return string(form)
}

// addAddresses adds the address blocks of a constraint.
func (e *examples) addAddresses(c *guidon.Constraint) {
	texts, _ := listed(c)
	for _, text := range texts {
		block, err := netip.ParsePrefix(text)
		if err != nil {
			address, _ := netip.ParseAddr(text) // the operand is valid
			block = netip.PrefixFrom(address, address.BitLen())
		}
		e.addresses = append(e.addresses, block.Masked())
	}
}

// appendAddresses appends the first address of each block, and the first ones that are not in
// it. Each part of a block, or of all addresses, that other blocks leave begins with one of them.
func (e *examples) appendAddresses(values []string) []string {
	if e.kinds&comparesAddress == 0 {
		return values
	}
	for _, block := range e.addresses {
		values = append(values, block.Addr().Unmap().String())
	}
	for _, block := range e.addresses {
		if next := lastAddress(block).Next(); next.IsValid() {
			values = append(values, next.Unmap().String())
		}
	}
	return append(values, "0.0.0.0", "::", "::1:0:0:0") // the last one follows those that stand for IPv4
}

// lastAddress returns the last address of the block, which is masked.
func lastAddress(block netip.Prefix) netip.Addr {
	bytes := block.Addr().AsSlice()
	for bit := block.Bits(); bit < 8*len(bytes); bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}
