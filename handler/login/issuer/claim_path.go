package issuer

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// ClaimPath is where a claim is: the name of a member or, if it begins with "/", a JSON
// pointer (RFC 6901). The empty path is that of no claim.
type ClaimPath string

const maxClaimPath = 255

var badEscape = regexp.MustCompile(`~([^01]|$)`)

// Check returns an error if the path is too long or a malformed JSON pointer.
func (p ClaimPath) Check() error {
	switch {
	case len(p) > maxClaimPath:
		return errors.New("must not exceed 255 bytes")
	case strings.HasPrefix(string(p), "/") && badEscape.MatchString(string(p)):
		return errors.New("must be a JSON pointer: ~ must be followed by 0 or 1")
	}
	return nil
}

// First returns the name of the member of the object that the path begins with.
func (p ClaimPath) First() string { return p.split()[0] }

func (p ClaimPath) split() []string {
	pointer, ok := strings.CutPrefix(string(p), "/")
	if !ok {
		return []string{string(p)}
	}
	names := strings.Split(pointer, "/")
	for i, name := range names {
		names[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	}
	return names
}

// Lookup returns the value at the path, or nil if there is none.
func (o Claims) Lookup(p ClaimPath) any {
	if p == "" {
		return nil
	}
	var value any = map[string]any(o)
	for _, name := range p.split() {
		switch container := value.(type) {
		case map[string]any:
			value = container[name]
		case []any:
			value = element(container, name)
		default:
			return nil
		}
	}
	return value
}

// element returns the element of that index, or nil if there is none.
func element(array []any, index string) any {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(array) || strconv.Itoa(i) != index {
		return nil
	}
	return array[i]
}
