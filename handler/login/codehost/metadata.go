package codehost

import (
	"slices"
	"sort"
	"strconv"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// Limits of metadata, in bytes.
const (
	maxMetadataValue = 1 << 10
	maxMetadata      = 8 << 10 // of all keys and values
)

// The beginnings of the keys of metadata. Those of prefixGitHub are those of Flipt v1.
const (
	prefix         = "io.service.auth."
	prefixCodehost = prefix + "codehost."
	prefixGitHub   = prefix + "github."
)

// metadata collects pairs within the limits.
type metadata struct {
	pairs map[string]string
	size  int
}

// room returns the maximum length of the value of the key.
func (m *metadata) room(key string) int { return min(maxMetadataValue, maxMetadata-m.size-len(key)) }

// add adds the pair, unless the value is empty, too long or has control characters.
func (m *metadata) add(key, value string) {
	if value == "" || len(value) > m.room(key) || !service.IsClean(value) {
		return
	}
	m.pairs[key] = value
	m.size += len(key) + len(value)
}

// metadata returns the pairs that clients may see: name, email and picture for all methods,
// and all facts under the name of the method, which on GitHub also serves clients of Flipt v1.
// Pairs that do not fit into the limits are left out.
func (p *person) metadata(h *Host) map[string]string {
	m := &metadata{pairs: map[string]string{}}
	p.addProfile(m, prefix)
	if h.kind == gitHub {
		p.addAll(m, prefixGitHub, h)
	}
	p.addAll(m, prefixCodehost, h)
	return m.pairs
}

func (p *person) addProfile(m *metadata, start string) {
	m.add(start+"name", p.name)
	m.add(start+"email", p.email)
	m.add(start+"picture", provider.SafeURL(p.picture))
}

func (p *person) addAll(m *metadata, start string, h *Host) {
	m.add(start+"sub", strconv.FormatInt(p.id, 10))
	m.add(start+"preferred_username", p.login)
	p.addProfile(m, start)
	if key := start + "organizations"; h.reads(organizations) {
		names := append([]string{}, p.organizations...) // not nil, whose JSON is null
		slices.Sort(names)
		m.add(key, fitting(m.room(key), names, func(names []string) any { return names }))
	}
	if key := start + "teams"; h.reads(teams) {
		m.add(key, fitting(m.room(key), p.teams, teamsByOrganization))
	}
}

// teamsByOrganization returns the names of the teams of each organization.
func teamsByOrganization(teams []team) any {
	names := map[string][]string{}
	for _, t := range teams {
		names[t.organization] = append(names[t.organization], t.name)
	}
	return names
}

// fitting returns the JSON of as many of the first elements as fit into the limit, or ""
// if not even the JSON of none does.
func fitting[T any](limit int, elements []T, value func([]T) any) string {
	count := sort.Search(len(elements)+1, func(n int) bool { return len(issuer.ClaimText(value(elements[:n]))) > limit }) - 1
	if count < 0 {
		return ""
	}
	return issuer.ClaimText(value(elements[:count]))
}
