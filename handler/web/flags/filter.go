package flags

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// perPage is how many flags a page has.
const perPage = 50

// filter has the fields of the address that select and sort the flags of the list.
type filter struct {
	query url.Values // the fields of the address that are known, without the page
	page  int        // from 1
}

// The fields of the address.
const (
	fieldQuery   = "q"
	fieldMine    = "mine"
	fieldState   = "state"
	fieldType    = "type"
	fieldOwner   = "owner"
	fieldTag     = "tag"
	fieldSegment = "segment"
	fieldSort    = "sort"
)

// filterFields are those that select flags.
var filterFields = []string{fieldMine, fieldState, fieldType, fieldOwner, fieldTag, fieldSegment}

// states are the values of the field state.
var states = map[string]guidonv1.FlagState{
	"on": guidonv1.FlagState_ON_FLAG_STATE, "off": guidonv1.FlagState_OFF_FLAG_STATE, "partly": guidonv1.FlagState_PARTLY_FLAG_STATE,
}

// types are the values of the field type.
var types = map[string]flipt.FlagType{"boolean": flipt.FlagType_BOOLEAN_FLAG_TYPE, "variant": flipt.FlagType_VARIANT_FLAG_TYPE}

// order is an order of the list.
type order struct {
	value, text string // of the field sort
	sort        guidonv1.FlagSort
	descending  bool
}

// sorts are the values of the field sort, and the order that each is. The first is that of
// an address without the field.
var sorts = []order{
	{"changed", "Last changed", guidonv1.FlagSort_CHANGED_FLAG_SORT, true},
	{"name", "Name", guidonv1.FlagSort_NAME_FLAG_SORT, false},
	{"key", "Key", guidonv1.FlagSort_KEY_FLAG_SORT, false},
	{"created", "Newest", guidonv1.FlagSort_CREATED_FLAG_SORT, true},
	{"-changed", "Longest unchanged", guidonv1.FlagSort_CHANGED_FLAG_SORT, false},
	{"-name", "Name, from Z", guidonv1.FlagSort_NAME_FLAG_SORT, true},
}

// filterOf returns the filter of an address. Unknown fields and values are left out.
func filterOf(query url.Values) filter {
	f := filter{query: make(url.Values), page: page.PageOf(query)}
	if q := strings.TrimSpace(query.Get(fieldQuery)); q != "" {
		f.query.Set(fieldQuery, q)
	}
	for _, field := range filterFields {
		for _, value := range query[field] {
			if f.knows(field, value) && !slices.Contains(f.query[field], value) {
				f.query.Add(field, value)
			}
		}
	}
	if sort := query.Get(fieldSort); f.knows(fieldSort, sort) && sort != sorts[0].value {
		f.query.Set(fieldSort, sort)
	}
	return f
}

// knows reports whether the value is one that the field can have.
func (f filter) knows(field, value string) bool {
	switch field {
	case fieldMine:
		return mineTexts[value] != ""
	case fieldState:
		_, ok := states[value]
		return ok
	case fieldType:
		_, ok := types[value]
		return ok
	case fieldSort:
		return slices.ContainsFunc(sorts, func(o order) bool { return o.value == value })
	}
	return true
}

// request returns the request for the page of flags.
func (f filter) request(namespace string) *guidonv1.ListFlagSummariesRequest {
	m := &guidonv1.ListFlagSummariesRequest{
		NamespaceKey: namespace, Query: f.query.Get(fieldQuery), Owners: f.query[fieldOwner], Tags: f.query[fieldTag],
		Segments: f.query[fieldSegment],
		Offset:   int32((f.page - 1) * perPage), Limit: perPage, // #nosec G115 -- filterOf limits the page
	}
	for _, s := range f.query[fieldState] {
		m.States = append(m.States, states[s])
	}
	for _, t := range f.query[fieldType] {
		m.Types = append(m.Types, types[t])
	}
	chosen := f.order()
	m.Sort, m.Descending = sorts[chosen].sort, sorts[chosen].descending
	return m
}

// order returns the index of the order in sorts.
func (f filter) order() int {
	return max(0, slices.IndexFunc(sorts, func(o order) bool { return o.value == f.query.Get(fieldSort) }))
}

// selects reports whether anything is left out.
func (f filter) selects() bool {
	return f.query.Has(fieldQuery) || slices.ContainsFunc(filterFields, f.query.Has)
}

// address returns the address of the list with the field set to the value, or without the
// field if the value is "".
func (f filter) address(v *page.Visit, field, value string) string {
	query := f.copy()
	if value == "" {
		query.Del(field)
	} else {
		query.Set(field, value)
	}
	return addressOf(v, query)
}

// sorted returns the address of the list in an order. The first one needs no field.
func (f filter) sorted(v *page.Visit, order string) string {
	if order == sorts[0].value {
		order = ""
	}
	return f.address(v, fieldSort, order)
}

// toggled returns the address of the list with the value of the field added or, if it is
// there, removed.
func (f filter) toggled(v *page.Visit, field, value string) string {
	query := f.copy()
	if i := slices.Index(query[field], value); i >= 0 {
		query[field] = slices.Delete(query[field], i, i+1)
	} else {
		query.Add(field, value)
	}
	return addressOf(v, query)
}

func (f filter) copy() url.Values {
	query := make(url.Values, len(f.query))
	for name, values := range f.query {
		query[name] = slices.Clone(values)
	}
	return query
}

// at returns the query of another page of the same list.
func (f filter) at(number int) url.Values {
	query := f.copy()
	if number > 1 {
		query.Set(page.FieldPage, strconv.Itoa(number))
	}
	return query
}

// onPage returns the address of another page of the same list.
func (f filter) onPage(v *page.Visit, number int) string { return addressOf(v, f.at(number)) }

func addressOf(v *page.Visit, query url.Values) string { return page.WithQuery(v.In("flags"), query) }
