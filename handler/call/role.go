package call

import (
	"github.com/guidonhq/guidon/service"
)

// need is the role that an operation needs: in each namespace that the request is about,
// or everywhere. RoleUnset is for every identity.
type need struct {
	role       service.Role
	everywhere bool
	stated     bool // every operation must state its need
}

// Needing states the role that the operation needs in the namespaces of its request.
func (o *Operation) Needing(role service.Role) *Operation {
	o.need = need{role: role, stated: true}
	return o
}

// NeedingEverywhere states the role that the operation needs in all namespaces, also in
// those to come.
func (o *Operation) NeedingEverywhere(role service.Role) *Operation {
	o.need = need{role: role, everywhere: true, stated: true}
	return o
}

// ForEveryIdentity states that the operation needs no role.
func (o *Operation) ForEveryIdentity() *Operation {
	o.need = need{stated: true}
	return o
}

// Needs returns the role that the operation needs, whether it needs it everywhere, and
// whether that was stated.
func (o *Operation) Needs() (role service.Role, everywhere, stated bool) {
	return o.need.role, o.need.everywhere, o.need.stated
}

// checkRole returns PermissionDenied unless the authentication gives the role that the
// request needs.
func checkRole(a *service.Authentication, o *Operation, request *Request) error {
	if a.Unlimited() || o.need.role == service.RoleUnset {
		return nil
	}
	need := o.need
	if o.AreaOf(request) == AreaAuthentication {
		need.role, need.everywhere = service.RoleAdmin, true
	}
	if need.everywhere {
		return refuse(a, need.role, service.Everywhere)
	}
	if c := request.confined(); c != nil {
		return refuse(a, need.role, c.About())
	}
	for namespace := range namespaces(request.Message) {
		if err := refuse(a, need.role, namespace); err != nil {
			return err
		}
	}
	return nil
}

func refuse(a *service.Authentication, role service.Role, namespace string) error {
	if a.May(role, namespace) {
		return nil
	}
	return service.Refusal(role, namespace)
}
