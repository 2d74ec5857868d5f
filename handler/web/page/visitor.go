package page

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/service"
)

// Visitor is who visits a page. The zero Visitor is anonymous: credentials are not
// required.
type Visitor struct {
	Authentication *service.Authentication // nil if credentials are not required
	Name           string                  // for people, never empty
	Token          bool                    // Name is that of a static token
}

// maxName limits the names on pages, in bytes.
const maxName = 128

// visitorNames are the metadata with the name of an account, the best first.
var visitorNames = []string{"io.service.auth.name", "io.service.auth.email", service.MetadataTokenName}

// NameOf returns the name for people in the metadata of an authentication.
func NameOf(metadata map[string]string) string {
	for _, key := range visitorNames {
		if name := Printable(metadata[key], maxName); name != "" {
			return name
		}
	}
	return "an account without a name"
}

// newVisitor returns the visitor with the authentication, which may be nil.
func newVisitor(a *service.Authentication) Visitor {
	if a == nil {
		return Visitor{Name: Anonymous}
	}
	return Visitor{Authentication: a, Name: NameOf(a.Metadata), Token: a.Method == service.MethodToken}
}

// roleLabels are the roles in words of the interface.
var roleLabels = map[service.Role]string{
	service.RoleEvaluator: "Evaluate", service.RoleClient: "Client-side", service.RoleViewer: "View",
	service.RoleEditor: "Edit", service.RoleAdmin: "Admin",
}

// RoleLabel returns the role in the words of the interface.
func RoleLabel(role service.Role) string {
	return cmp.Or(roleLabels[role], "No access")
}

// RoleIn returns the highest role of the visitor in the namespace.
func (v *Visit) RoleIn(namespace string) service.Role {
	for role := service.RoleAdmin; role >= service.RoleEvaluator; role-- {
		if v.MayIn(role, namespace) {
			return role
		}
	}
	return service.RoleNone
}

// Initials returns up to two letters that stand for the name.
func Initials(name string) string {
	var initials []rune
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		first := []rune(word)[0]
		if len(initials) == 2 {
			initials[1] = unicode.ToUpper(first)
			continue
		}
		initials = append(initials, unicode.ToUpper(first))
	}
	return string(initials)
}
