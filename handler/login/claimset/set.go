package claimset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// Set is the claims of a token, or of an object among them, by name. Names are
// case-sensitive.
type Set map[string]json.RawMessage

// Parse returns the claims in the payload of a token. It returns an error if that is not a
// JSON object, or if a name is there twice in an object at any depth: other parsers might
// use the other one.
func Parse(payload []byte) (Set, error) {
	switch {
	case !utf8.Valid(payload):
		return nil, errors.New("claims are not UTF-8")
	case !json.Valid(payload):
		return nil, errors.New("claims are not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber() // of any size
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("claims are not a JSON object")
	}
	if err := checkObject(d); err != nil {
		return nil, err
	}
	var s Set
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, fmt.Errorf("cannot parse the claims: %w", err)
	}
	return s, nil
}

// checkObject reads the rest of an object, and returns an error if a name is there twice.
func checkObject(d *json.Decoder) error {
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if seen[name] {
			return fmt.Errorf("claim %q is there twice", provider.Printable(name))
		}
		seen[name] = true
		if err := checkValue(d); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// checkValue reads a value, and checks the objects in it.
func checkValue(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return checkObject(d)
	case json.Delim('['):
		for d.More() {
			if err := checkValue(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// Has reports whether there is a claim of that name, of any type.
func (s Set) Has(name string) bool {
	_, ok := s[name]
	return ok
}

// String returns the string of that name, or "" if there is no such claim. It returns an
// error if the claim is not a string.
func (s Set) String(name string) (string, error) {
	raw, ok := s[name]
	if !ok {
		return "", nil
	}
	value, ok := text(raw)
	if !ok {
		return "", fmt.Errorf("claim %s is not a string", name)
	}
	return value, nil
}

// Object returns the members of the object of that name, or false if there is no such
// claim or if it is not an object.
func (s Set) Object(name string) (Set, bool) {
	var members Set
	raw := s[name]
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil, false
	}
	return members, true
}

// Audiences returns the strings of the claim aud, which is a list or a single one. It
// returns an error if the claim has anything else.
func (s Set) Audiences() ([]string, error) {
	raw, ok := s["aud"]
	if !ok {
		return nil, nil
	}
	if one, ok := text(raw); ok {
		return []string{one}, nil
	}
	var elements []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return nil, errors.New("claim aud is neither a string nor a list")
	}
	audiences := make([]string, 0, len(elements))
	for _, element := range elements {
		one, ok := text(element)
		if !ok {
			return nil, errors.New("claim aud has an element that is not a string")
		}
		audiences = append(audiences, one)
	}
	return audiences, nil
}

// maxSeconds is the last second of the year 9999, the last that JSON texts of times can
// have.
const maxSeconds = 253402300799

// Time returns the time of that name, or the zero time if there is no such claim.
// Fractions of a second are dropped. It returns an error if the claim is not a number, is
// before 1970 or after the year 9999.
func (s Set) Time(name string) (time.Time, error) {
	raw, ok := s[name]
	if !ok {
		return time.Time{}, nil
	}
	var seconds float64
	if raw[0] == 'n' || json.Unmarshal(raw, &seconds) != nil {
		return time.Time{}, fmt.Errorf("claim %s is not a number", name)
	}
	if seconds < 0 || seconds >= maxSeconds+1 {
		return time.Time{}, fmt.Errorf("claim %s is out of range", name)
	}
	return time.Unix(int64(math.Floor(seconds)), 0).UTC(), nil
}

// text returns the string that raw is, or false if it is something else.
func text(raw json.RawMessage) (string, bool) {
	var value string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	return value, true
}

// Plain reports whether the text has 1 to limit characters, none of which is a control
// character, nor the replacement character that stands for a malformed one: two malformed
// texts must not become equal.
func Plain(text string, limit int) bool {
	if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > limit {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
}
