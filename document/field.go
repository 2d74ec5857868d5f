package document

// An object is described once, by its fields. To read or to write it is to do so with each of
// them.

// field is a member of an object. Contract 13.2 defines their order.
type field struct {
	name     string
	value    value
	addition bool                      // versions without additions do not have it
	then     func(d *decoder, n *node) // called after it has been read; or nil
}

func (f *field) read(d *decoder, n *node) {
	if f.addition && n.kind != null {
		d.require(n, f.name, withAdditions)
	}
	if f.value.read(d, n); f.then != nil {
		f.then(d, n)
	}
}

// value is the value of a field.
type value interface {
	read(d *decoder, n *node)
	write(e *encoder) *node // nil if documents leave it out
}

// form is how values of a type are read and written.
type form[T any] struct {
	read  func(d *decoder, n *node, to *T) // n is not null
	write func(e *encoder, from *T) *node
}

// single is one value.
type single[T any] struct {
	at *T
	as form[T]
}

// always returns the field for a value that documents always have.
func always[T any](name string, at *T, as form[T]) field {
	return field{name: name, value: &single[T]{at, as}}
}

func (s *single[T]) read(d *decoder, n *node) {
	if n.kind != null {
		s.as.read(d, n, s.at)
	}
}

func (s *single[T]) write(e *encoder) *node { return s.as.write(e, s.at) }

// nonzero is a value that documents leave out if it is zero.
type nonzero[T comparable] struct{ single[T] }

func optional[T comparable](name string, at *T, as form[T]) field {
	return field{name: name, value: &nonzero[T]{single[T]{at, as}}}
}

func (v *nonzero[T]) write(e *encoder) *node {
	if *v.at == *new(T) {
		return nil
	}
	return v.single.write(e)
}

// items are a list of values, which documents leave out if it is empty.
type items[T any] struct {
	at *[]T
	as form[T]
}

func listOf[T any](name string, at *[]T, as form[T]) field {
	return field{name: name, value: &items[T]{at, as}}
}

func (l *items[T]) read(d *decoder, n *node) {
	d.list(n, func(item *node) {
		*l.at = append(*l.at, *new(T))
		l.as.read(d, item, &(*l.at)[len(*l.at)-1])
	})
}

func (l *items[T]) write(e *encoder) *node {
	if len(*l.at) == 0 {
		return nil
	}
	out := &node{kind: list}
	for i := range *l.at {
		out.items = append(out.items, l.as.write(e, &(*l.at)[i]))
	}
	return out
}

// objectOf returns the form of an object with the fields.
func objectOf[T any](fields func(*T) []field) form[T] {
	return form[T]{
		read:  func(d *decoder, n *node, to *T) { d.object(n, fields(to)) },
		write: func(e *encoder, from *T) *node { return e.object(fields(from)) },
	}
}

// pointerTo returns the form of pointers.
func pointerTo[T any](as form[T]) form[*T] {
	return form[*T]{
		read: func(d *decoder, n *node, to **T) {
			*to = new(T)
			as.read(d, n, *to)
		},
		write: func(e *encoder, from **T) *node { return as.write(e, *from) },
	}
}

// and returns the field with something to do after it has been read.
func (f field) and(then func(d *decoder, n *node)) field {
	f.then = then
	return f
}

// additions returns the fields as ones that versions without additions do not have.
func additions(all ...field) []field {
	for i := range all {
		all[i].addition = true
	}
	return all
}
