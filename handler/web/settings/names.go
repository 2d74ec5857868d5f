package settings

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/service"
)

// maxPatterns limits the namespaces that a row lists.
const maxPatterns = 8

// shorten returns the namespaces that a row lists.
func shorten(patterns []string) []string { return patterns[:min(len(patterns), maxPatterns)] }

// roles are the roles that can be given, the least first.
var roles = []part.Option{
	choiceOf(service.RoleEvaluator, "evaluate flags"),
	choiceOf(service.RoleClient, "also download all rules, to evaluate without the server"),
	choiceOf(service.RoleViewer, "also read flags, segments and changes"),
	choiceOf(service.RoleEditor, "also change flags and segments"),
	choiceOf(service.RoleAdmin, "also manage namespaces and, everywhere, tokens and access"),
}

func choiceOf(role service.Role, text string) part.Option {
	return part.Option{Value: role.String(), Text: page.RoleLabel(role) + ": " + text}
}

// labelOf returns the label of the role with the name.
func labelOf(name string) string {
	role, err := service.ParseRole(name)
	if err != nil {
		return page.RoleLabel(service.RoleNone)
	}
	return page.RoleLabel(role)
}

// isRole reports whether a role with the name can be given.
func isRole(name string) bool {
	role, err := service.ParseRole(name)
	return err == nil && role >= service.RoleEvaluator
}
