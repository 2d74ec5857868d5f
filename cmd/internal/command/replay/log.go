package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/guidonhq/guidon"
)

// maxLine is the maximum length of a line, in bytes.
const maxLine = 4 << 20

// line is the body of an evaluation as clients of Flipt send it, of one flag or a batch.
// Tools that know the messages only by their fields write the names with underscores.
type line struct {
	NamespaceKey string                     `json:"namespaceKey"`
	FlagKey      string                     `json:"flagKey"`
	EntityID     string                     `json:"entityId"`
	Context      map[string]json.RawMessage `json:"context"`
	Requests     []line                     `json:"requests"`

	Namespace string `json:"namespace_key"`
	Flag      string `json:"flag_key"`
	Entity    string `json:"entity_id"`
}

// ReadLog returns the requests of a log with one JSON object in each line. A line that is
// none is an error that names it, or is passed to skip unless that is nil.
func ReadLog(name string, in io.Reader, skip func(error)) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine)
		number := 0
		for scanner.Scan() {
			number++
			requests, err := parseLine(scanner.Bytes())
			if err != nil {
				err = fmt.Errorf("%s line %d: %w", name, number, err)
				if skip == nil {
					yield(Request{}, err)
					return
				}
				skip(err)
			}
			for _, r := range requests {
				if !yield(r, nil) {
					return
				}
			}
		}
		err := scanner.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d: must not be longer than %d bytes", number+1, maxLine)
		}
		if err != nil {
			yield(Request{}, fmt.Errorf("%s: %w", name, err))
		}
	}
}

// parseLine returns the requests in a line. An empty line has no requests.
func parseLine(text []byte) ([]Request, error) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, nil
	}
	var l line
	if text[0] != '{' || json.Unmarshal(text, &l) != nil {
		return nil, errors.New(`must be a JSON object such as {"namespaceKey":"default","flagKey":"checkout","entityId":"u-1","context":{"country":"SE"}}, or one with such objects in "requests"`)
	}
	if len(l.Requests) == 0 {
		r, err := l.request("")
		return []Request{r}, err
	}
	var requests []Request
	for i, one := range l.Requests {
		r, err := one.request(cmp.Or(l.NamespaceKey, l.Namespace))
		if err != nil {
			return nil, fmt.Errorf("requests[%d]: %w", i, err)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

func (l line) request(namespace string) (Request, error) {
	r := Request{
		Namespace: cmp.Or(l.NamespaceKey, l.Namespace, namespace, guidon.DefaultNamespace),
		Flag:      cmp.Or(l.FlagKey, l.Flag), Entity: cmp.Or(l.EntityID, l.Entity),
		Context: make(map[string]string, len(l.Context)),
	}
	if r.Flag == "" {
		return Request{}, errors.New("flagKey is required")
	}
	for key, value := range l.Context {
		var text string
		switch {
		case string(value) == "null":
		case json.Unmarshal(value, &text) == nil:
			r.Context[key] = text
		default:
			r.Context[key] = string(value) // Flipt has only strings
		}
	}
	return r, nil
}
