package management

import "reflect"

// What an allocation takes in addition, in bytes: the allocator rounds sizes up.
const (
	roundingOfObject = 40
	roundingOfText   = 24
)

// memoryOf returns how many bytes the value takes in memory besides the variable that holds
// it: everything that it points to, directly or indirectly. Every field counts, by
// reflection, so that a new one is not forgotten.
func memoryOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return roundingOfText + v.Len()
	case reflect.Pointer:
		if !v.IsNil() {
			return roundingOfObject + int(v.Type().Elem().Size()) + memoryOf(v.Elem()) // #nosec G115 -- the size of a type
		}
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size()) // #nosec G115 -- the size of a type
		for i := range v.Len() {
			n += memoryOf(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += memoryOf(v.Field(i))
		}
	}
	return n
}
