package settings

import (
	"net/url"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/service"
)

// grantForm is the part of a form with a role, and where it holds.
type grantForm struct {
	Role       string
	Everywhere bool
	Namespaces string // patterns, separated by spaces or commas
}

// readGrant returns the fields of a form that was sent.
func readGrant(form url.Values) grantForm {
	return grantForm{Role: form.Get("role"), Everywhere: form.Get("where") == "all", Namespaces: form.Get("namespaces")}
}

// roles returns the roles to choose from.
func (f grantForm) roles() []part.Option {
	if f.Role == "" {
		return slices.Insert(slices.Clone(roles), 0, part.Option{Text: "Choose …"})
	}
	return roles
}

// maxNamespaces limits the namespaces of a grant, as the API does.
const maxNamespaces = 100

// patterns returns where the role holds. It adds what is wrong to the problems.
func (f grantForm) patterns(problems *part.Problems) []string {
	if f.Everywhere {
		return []string{service.Everywhere}
	}
	all := listed(f.Namespaces)
	slices.Sort(all)
	all = slices.Compact(all)
	switch {
	case len(all) == 0:
		problems.Add("namespaces", "Name at least one namespace.")
	case len(all) > maxNamespaces:
		problems.Add("namespaces", "At most 100 namespaces. Use a beginning, such as pay-*, for several.")
	}
	for _, pattern := range all {
		start, _ := strings.CutSuffix(pattern, "*")
		if start != "" && !service.ValidNamespaceKey(start) {
			problems.Add("namespaces", "“"+pattern+"” is not the key of a namespace. Keys have letters, digits, - and _ only.")
			break
		}
	}
	return all
}

// listed returns the words of a text that are separated by spaces or commas.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,\t\r\n", r) })
}

// check adds the problems of the role.
func (f grantForm) check(problems *part.Problems) {
	if !isRole(f.Role) {
		problems.Add("role", "Choose what it may do.")
	}
}

// refusedAs returns the problem of the field that the operation refused, or false if the
// error is about something else. fields are the ids of fields by their names in the API, or nil
// if these are the same.
func refusedAs(err error, fields map[string]string) (part.Problems, bool) {
	if guidon.CodeOf(err) != guidon.InvalidArgument {
		return nil, false
	}
	rest, ok := strings.CutPrefix(guidon.PublicMessage(err), "invalid field ")
	name, rule, _ := strings.Cut(rest, ": ")
	name, _, _ = strings.Cut(name, "[")
	id := fields[name]
	if fields == nil {
		id = name
	}
	if !ok || id == "" {
		return nil, false
	}
	if strings.HasPrefix(rule, "must ") {
		rule = "this " + rule
	}
	return part.Problems{{Field: id, Message: page.Sentence(rule)}}, true
}
