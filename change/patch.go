package change

import "github.com/guidonhq/guidon"

// Patch describes a change to be made to one namespace, by its outcome: whole objects
// that are created or replaced, and keys of objects that are deleted. Objects that it
// does not mention stay as they are.
//
// Its fields have one list for each kind of object. So there are no unknown kinds, the
// order in which a patch is applied need not be written down in it (the namespace,
// segments, flags; then deletions of flags and of segments), and it is a plain value: it
// can be written as a literal, compared, and stored as JSON. Decoders must reject unknown
// members: they would lose the objects of a kind that only later releases know.
//
// A change that is too large for memory as a whole, such as an import, is a sequence of
// patches of one object each, which are applied in one transaction.
type Patch struct {
	Put    Objects `json:"put,omitzero"`
	Delete Keys    `json:"delete,omitzero"`
}

// Objects are objects of one namespace, and possibly the namespace itself.
type Objects struct {
	Namespace *guidon.Namespace `json:"namespace,omitempty"` // or nil
	Segments  []*guidon.Segment `json:"segments,omitempty"`
	Flags     []*guidon.Flag    `json:"flags,omitempty"`
}

// Keys are keys of objects of one namespace.
type Keys struct {
	Segments []string `json:"segments,omitempty"`
	Flags    []string `json:"flags,omitempty"`
}

// Validate returns InvalidArgument if the patch contradicts itself: if it puts or
// deletes an object twice, or both puts and deletes it, or if it puts a flag that refers
// to a segment that it deletes. It does not check the objects themselves, nor whether
// the segments that flags refer to exist.
func (p Patch) Validate() error {
	segments, err := mentioned(KindSegment, p.Put.Segments, func(g *guidon.Segment) string { return g.Key }, p.Delete.Segments)
	if err != nil {
		return err
	}
	if _, err := mentioned(KindFlag, p.Put.Flags, func(f *guidon.Flag) string { return f.Key }, p.Delete.Flags); err != nil {
		return err
	}
	for _, f := range p.Put.Flags {
		for key := range f.SegmentKeys() {
			if segments[key] == "deleted" {
				return guidon.Errorf(guidon.InvalidArgument, "patch: flag %q refers to segment %q, which is deleted", f.Key, key)
			}
		}
	}
	return nil
}

// mentioned returns the operation of a patch on each object of one kind, by key: "put" or
// "deleted". It returns an error if it does more than one thing to an object.
func mentioned[T any](kind Kind, put []*T, keyOf func(*T) string, deleted []string) (map[string]string, error) {
	all := make(map[string]string, len(put)+len(deleted))
	add := func(key, what string) error {
		switch all[key] {
		case "":
			all[key] = what
			return nil
		case what:
			return guidon.Errorf(guidon.InvalidArgument, "patch: %s %q is %s twice", kind, key, what)
		}
		return guidon.Errorf(guidon.InvalidArgument, "patch: %s %q is both put and deleted", kind, key)
	}
	for i, object := range put {
		if object == nil {
			return nil, guidon.Errorf(guidon.InvalidArgument, "patch: put.%ss[%d] must not be null", kind, i)
		}
		if err := add(keyOf(object), "put"); err != nil {
			return nil, err
		}
	}
	for _, key := range deleted {
		if err := add(key, "deleted"); err != nil {
			return nil, err
		}
	}
	return all, nil
}
