package page

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// begin finds out who visits the page, and about which namespace it is.
func (v *Visit) begin() error {
	v.Preferences, v.Visitor = PreferencesOf(v.Request), newVisitor(nil)
	if v.Site.Required {
		if !v.Site.Session.In(v.Request.Header["Cookie"]) {
			return errNoSession
		}
		a, err := v.Identify(v.credentials(), service.Demand{MayBeStale: !v.sends()})
		if err != nil {
			return err
		}
		v.Visitor = newVisitor(a)
	}
	var outside error
	if key := v.Variable("namespace"); key != "" {
		outside = v.enter(key)
	}
	if v.Away() { // the others are not in memory
		v.Namespaces = []*flipt.Namespace{v.Namespace}
	} else if err := v.readNamespaces(); err != nil {
		return err
	}
	v.known = true
	return outside
}

// errNoSession is the error for a browser that has no session at all.
var errNoSession = guidon.Errorf(guidon.Unauthenticated, "the browser has no session")

// readNamespaces reads the namespaces that the visitor may see.
func (v *Visit) readNamespaces() error {
	request := &flipt.ListNamespaceRequest{}
	for {
		list, err := ListNamespaces.Run(v, request)
		if err != nil {
			return err
		}
		for _, n := range list.GetNamespaces() {
			if v.MayIn(service.RoleViewer, n.GetKey()) {
				v.Namespaces = append(v.Namespaces, n)
			}
		}
		if request.PageToken = list.GetNextPageToken(); request.PageToken == "" {
			return nil
		}
	}
}

// enter makes the namespace that of the visit.
func (v *Visit) enter(key string) error {
	namespace, state, err := GetNamespace.RunAt(v, &flipt.GetNamespaceRequest{Key: key})
	if err != nil {
		return err
	}
	v.Namespace, v.State = namespace, state
	return nil
}

// NamespaceWith returns the namespace with the key, or nil if there is none or the visitor may
// not see it.
func (v *Visit) NamespaceWith(key string) *flipt.Namespace {
	if i := slices.IndexFunc(v.Namespaces, func(n *flipt.Namespace) bool { return n.GetKey() == key }); i >= 0 {
		return v.Namespaces[i]
	}
	return nil
}

// Current returns the namespace of the page or, on a page about none, the one that the
// visitor was in last, or another that may be seen; nil if there is none.
func (v *Visit) Current() *flipt.Namespace {
	if v.Namespace != nil {
		return v.Namespace
	}
	for _, key := range []string{v.Preferences.Namespace, v.Site.Interface.DefaultNamespace, guidon.DefaultNamespace} {
		if n := v.NamespaceWith(key); n != nil {
			return n
		}
	}
	if len(v.Namespaces) > 0 {
		return v.Namespaces[0]
	}
	return nil
}
