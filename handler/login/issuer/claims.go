package issuer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// maxDepth is how deep objects and arrays may be nested.
const maxDepth = 32

// Claims holds the members of a JSON object. Its values are nil, bool, [json.Number],
// string, []any or Object.
type Claims map[string]any

// ParseClaims returns the members of the JSON object. It returns an error if a member is there
// twice, on whatever level, since other parsers may use the other one, and if the text is
// not UTF-8, since the decoder would make different texts equal. Errors quote nothing but
// the names of members.
func ParseClaims(text []byte) (Claims, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	if !json.Valid(text) {
		return nil, errors.New("malformed JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	value, err := decodeClaim(d, maxDepth)
	if err != nil {
		return nil, err
	}
	object, ok := value.(Claims)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	return object, nil
}

// decode returns the next value.
func decodeClaim(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, errors.New("malformed JSON")
	}
	delim, ok := token.(json.Delim)
	switch {
	case !ok:
		return token, nil
	case depth == 0:
		return nil, fmt.Errorf("nested more than %d levels deep", maxDepth)
	case delim == '{':
		return decodeClaims(d, depth-1)
	}
	return decodeClaimArray(d, depth-1)
}

func decodeClaims(d *json.Decoder, depth int) (any, error) {
	object := Claims{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, errors.New("malformed JSON")
		}
		name, _ := token.(string)
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("%s is there twice", provider.Printable(name))
		}
		if object[name], err = decodeClaim(d, depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token() // the end
	return object, err
}

func decodeClaimArray(d *json.Decoder, depth int) (any, error) {
	array := []any{}
	for d.More() {
		value, err := decodeClaim(d, depth)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := d.Token() // the end
	return array, err
}

// Has reports whether there is a member of that name, be it null.
func (o Claims) Has(name string) bool {
	_, ok := o[name]
	return ok
}

// Text returns the string of that name, or "" if there is no such member. Any other value
// is an error.
func (o Claims) Text(name string) (string, error) {
	value, ok := o[name]
	if !ok {
		return "", nil
	}
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("%s is not a string", name)
	}
	return text, nil
}

// Audience returns the values of aud, which is a string or an array of strings, at least
// one. Anything else is an error, and so is an object without aud.
func (o Claims) Audience() ([]string, error) {
	values, ok := o["aud"].([]any)
	if !ok {
		values = []any{o["aud"]}
	}
	audience := make([]string, 0, len(values))
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			return nil, errors.New("aud is neither a string nor an array of strings")
		}
		audience = append(audience, text)
	}
	if len(audience) == 0 {
		return nil, errors.New("aud is empty")
	}
	return audience, nil
}
