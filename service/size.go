package service

import (
	"encoding/json"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// TooLargeObject returns the error for a flag or segment whose stored form is larger than
// [MaxObjectSize]. The name has its namespace, if that is known.
func TooLargeObject(kind change.Kind, name string, size int) error {
	return guidon.Errorf(guidon.TooLarge, "%s %q is too large: %d bytes, the limit is %d", string(kind), name, size, MaxObjectSize)
}

// checkSize returns TooLarge if a store would refuse the object as too large.
func checkSize(kind change.Kind, name string, object any) error {
	var size counter
	encoder := json.NewEncoder(&size)
	encoder.SetEscapeHTML(false) // as in the database
	if err := encoder.Encode(object); err != nil {
		return err
	}
	if stored := int(size) - len("\n"); stored > MaxObjectSize {
		return TooLargeObject(kind, name, stored)
	}
	return nil
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// checkSizes is checkSize for all objects that the patch puts into the namespace.
func checkSizes(namespace string, put change.Objects) error {
	for _, g := range put.Segments {
		if err := checkSize(change.KindSegment, namespace+"/"+g.Key, g); err != nil {
			return err
		}
	}
	for _, f := range put.Flags {
		if err := checkSize(change.KindFlag, namespace+"/"+f.Key, f); err != nil {
			return err
		}
	}
	return nil
}

// checkSize returns TooLarge if a new object with the content of the wanted one would be too large.
func (k *objectKind[O]) checkSize(want *O) error {
	return checkSize(k.kind, *k.key(want), k.edited(nil, want, time.Time{}))
}
