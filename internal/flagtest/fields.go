package flagtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// FilledSegmentKeys are the keys of the segments that the flags of [FilledFlags] refer to, and
// one more.
var FilledSegmentKeys = []string{"SegmentKeys-1", "SegmentKeys-2", "SegmentKeys-3"}

// FilledRequired returns the flag that those of [FilledFlags] require.
func FilledRequired() *guidon.Flag {
	return &guidon.Flag{Key: "required", Name: "Required", Type: guidon.BooleanFlag, Enabled: true}
}

// FilledFlags returns a variant flag and a boolean one, with something in every field. What
// they refer to exists: their own variants, segments with [FilledSegmentKeys], and [FilledRequired]. The
// structs are filled as they are, so that a field added later is tested without being named here.
func FilledFlags() []*guidon.Flag {
	variant, boolean := new(guidon.Flag), new(guidon.Flag)
	for _, f := range []*guidon.Flag{variant, boolean} {
		fill(reflect.ValueOf(f).Elem(), "", new(int))
		f.DefaultVariantID = f.Variants[1].ID
		for i, r := range f.Rules {
			r.Rank, r.Conditions.Everyone, r.CodeDefault = int32(i+1), false, false // which exclude other fields
			for j, d := range r.Distributions {
				d.VariantID = f.Variants[j].ID
			}
		}
		for i, r := range f.Rollouts {
			r.Rank, r.Conditions.Everyone = int32(i+1), false
		}
		f.Rollouts[0].Conditions = nil
		for i := range max(len(f.Rules), len(f.Rollouts)) {
			for _, r := range ramps(f, i) {
				if i == 0 {
					r.Steps = nil // which exclude Over
				} else {
					r.Over = 0
				}
			}
		}
		f.Rollouts[0].Segment, f.Rollouts[1].Threshold = nil, nil // one or the other
	}
	for _, c := range slices.Concat(conditionsOf(variant), conditionsOf(boolean)) {
		for _, g := range c.Groups {
			for _, c := range g.Constraints {
				c.ID, c.CreatedAt, c.UpdatedAt = "", time.Time{}, time.Time{}
			}
		}
	}
	variant.Type, boolean.Type = guidon.VariantFlag, guidon.BooleanFlag
	variant.Key, boolean.Key = "variant", "boolean"
	return []*guidon.Flag{variant, boolean}
}

// ramps returns those of the rule and the rollout with the index.
func ramps(f *guidon.Flag, i int) (all []*guidon.Ramp) {
	if p := f.Rules[i].Stated().Portion; p != nil {
		all = append(all, p.Ramp)
	}
	if p := f.Rollouts[i].Stated().Portion; p != nil {
		all = append(all, p.Ramp)
	}
	if t := f.Rollouts[i].Threshold; t != nil {
		all = append(all, t.Ramp)
	}
	return all
}

func conditionsOf(f *guidon.Flag) (all []*guidon.Conditions) {
	for _, r := range f.Rules {
		all = append(all, r.Stated())
	}
	for _, r := range f.Rollouts {
		all = append(all, r.Stated())
	}
	return all
}

// FilledSegment returns a segment with something in every field.
func FilledSegment(key string) *guidon.Segment {
	g := new(guidon.Segment)
	fill(reflect.ValueOf(g).Elem(), "", new(int))
	g.Key = key
	return g
}

// FilledNamespace returns a namespace with something in every field.
func FilledNamespace(key string) *guidon.Namespace {
	n := new(guidon.Namespace)
	fill(reflect.ValueOf(n).Elem(), "", new(int))
	n.Key = key
	return n
}

// start is an instant that every database stores as it is.
var start = time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)

// fill sets every field below v. name is that of the field, and n counts the values.
func fill(v reflect.Value, name string, n *int) {
	*n++
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = start.Add(time.Duration(*n) * time.Minute)
		switch name { // the rule holds now
		case "From":
			*value = value.Truncate(time.Second)
		case "Until":
			*value = value.Truncate(time.Second).AddDate(1000, 0, 0)
		case "Start", "Paused", "Reversed", "Last":
			*value = value.Truncate(time.Minute)
		}
		return
	case *time.Duration:
		*value = time.Duration(*n) * time.Minute
		return
	case *json.RawMessage:
		*value = fmt.Appendf(nil, `{"n":%d}`, *n)
		return
	case *guidon.Position, **guidon.Unreadable:
		return // set by stores
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), name, n)
			switch {
			case strings.HasSuffix(name, "SegmentKeys"):
				v.Index(i).SetString(FilledSegmentKeys[i])
			case name == "Answers":
				v.Index(i).SetString(strconv.FormatBool(i == 0))
			}
		}
	case reflect.String:
		v.SetString(text(name, *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint16: // an enum
		v.SetUint(1)
	case reflect.Int32:
		v.SetInt(int64(*n))
	case reflect.Float32:
		v.SetFloat(float64(*n) / 16) // percentages
	default:
		panic(fmt.Sprintf("flagtest: field %s is of a kind that is not known here: %s", name, v.Type()))
	}
}

// text returns a value that the field accepts.
func text(name string, n int) string {
	switch name {
	case "Operator":
		return guidon.OpEQ
	case "Color":
		return string(guidon.Amber)
	case "FlagKey":
		return FilledRequired().Key
	case "Attachment":
		return fmt.Sprintf(`{"n":%d}`, n)
	case "ID":
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	}
	return fmt.Sprintf("%s-%d", name, n)
}

// LostFields changes one field of the object after another and returns the paths of those
// that make no difference to its form, such as "Rules.Distributions.Rollout". form must
// not keep the object.
func LostFields[T any](object *T, form func(*T) string) []string {
	whole := form(object)
	kept := map[string]bool{}
	each(reflect.ValueOf(object).Elem(), "", func(path string, v reflect.Value) {
		before := reflect.ValueOf(v.Interface())
		change(v, path[strings.LastIndexByte(path, '.')+1:])
		kept[path] = kept[path] || form(object) != whole
		v.Set(before)
	})
	var lost []string
	for path, kept := range kept {
		if !kept {
			lost = append(lost, path)
		}
	}
	slices.Sort(lost)
	return lost
}

// each calls do for every value below v that holds no others, with the path to it in
// which the elements of a list are one.
func each(v reflect.Value, path string, do func(path string, v reflect.Value)) {
	switch v.Interface().(type) {
	case time.Time, json.RawMessage:
		do(path, v)
		return
	case guidon.Position:
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), path, do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), path, do)
		}
	default:
		do(path, v)
	}
}

// change gives the field another value that it accepts.
func change(v reflect.Value, name string) {
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = value.Add(time.Minute)
		return
	case *time.Duration:
		*value += time.Minute
		return
	case *json.RawMessage:
		*value = json.RawMessage(`{"n":"changed"}`)
		return
	case *guidon.ComparisonType:
		*value = guidon.NumberComparison
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(changed(name))
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Uint8:
		v.SetUint(1 - v.Uint())
	case reflect.Int32:
		v.SetInt(v.Int() + 7)
	case reflect.Float32:
		v.SetFloat(v.Float() + 0.125)
	default:
		panic(fmt.Sprintf("flagtest: field %s is of a kind that is not known here: %s", name, v.Type()))
	}
}

func changed(name string) string {
	switch name {
	case "Operator":
		return guidon.OpNEQ
	case "Color":
		return string(guidon.Violet)
	case "Attachment":
		return `{"n":"changed"}`
	case "SegmentKeys", "ExceptSegmentKeys":
		return FilledSegmentKeys[2]
	}
	return name + "-changed"
}
