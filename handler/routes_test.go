package handler_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/service"
)

// wireMethods returns the methods of all services in package wire, by name.
func wireMethods() map[string]protoreflect.MethodDescriptor {
	methods := map[string]protoreflect.MethodDescriptor{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if name := string(file.Package()); !strings.HasPrefix(name, "flipt") && !strings.HasPrefix(name, "guidon") {
			return true
		}
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				methods["/"+string(service.FullName())+"/"+string(m.Name())] = m
			}
		}
		return true
	})
	return methods
}

// TestEveryMethodHasItsOperation compares the operations table with the service
// descriptors, in both directions.
func TestEveryMethodHasItsOperation(t *testing.T) {
	methods := wireMethods()
	for _, o := range handler.Operations() {
		m, ok := methods[o.Name]
		if !ok {
			t.Errorf("%s: no such method, or twice", o.Name)
			continue
		}
		delete(methods, o.Name)
		if got := o.NewRequest().ProtoReflect().Descriptor().FullName(); got != m.Input().FullName() {
			t.Errorf("%s: takes %s, want %s", o.Name, got, m.Input().FullName())
		}
		if got := o.NewResponse().ProtoReflect().Descriptor().FullName(); got != m.Output().FullName() {
			t.Errorf("%s: returns %s, want %s", o.Name, got, m.Output().FullName())
		}
		if got := "/" + o.Service() + "/" + o.Method(); got != o.Name {
			t.Errorf("%s: service and method are %s", o.Name, got)
		}
		if len(o.Routes) == 0 {
			t.Errorf("%s: has no route", o.Name)
		}
	}
	for name := range methods {
		t.Errorf("%s: has no operation", name)
	}
}

func TestEveryPathVariableIsAField(t *testing.T) {
	for _, o := range handler.Operations() {
		fields := o.NewRequest().ProtoReflect().Descriptor().Fields()
		for _, route := range o.Routes {
			for _, name := range route.Variables() {
				if f := fields.ByTextName(name); f == nil || f.Kind() != protoreflect.StringKind {
					t.Errorf("%s %s: %s is not a string field of %s", o.Name, route.Pattern, name, fields.Get(0).Parent().FullName())
				}
			}
		}
	}
}

// TestReadsAndWrites checks the classification of the operations against their names.
func TestReadsAndWrites(t *testing.T) {
	changing := []string{"Create", "Update", "Delete", "Order", "Import", "Apply", "Replace", "Turn", "Control", "Patch"}
	for _, o := range handler.Operations() {
		changes := slices.ContainsFunc(changing, func(verb string) bool { return strings.HasPrefix(o.Method(), verb) })
		want := changes && o.Area == call.AreaManagement
		if o.Has(call.Writes) != want {
			t.Errorf("%s: writes %v, want %v", o.Name, o.Has(call.Writes), want)
		}
		for _, route := range o.Routes {
			if route.Method == http.MethodGet && o.Has(call.Writes) || route.Method == http.MethodDelete && !changes && o.Method() != "RevokeAuthenticationSelf" {
				t.Errorf("%s: unsuitable method %s", o.Name, route.Method)
			}
		}
	}
}

// TestEveryRouteIsReachable sends a request to each route and expects a response from its
// operation, not from the router.
func TestEveryRouteIsReachable(t *testing.T) {
	s := newServer(t, tokens, withEveryMethod)
	routes := 0
	for _, o := range handler.Operations() {
		for _, route := range o.Routes {
			path := route.Pattern
			for _, name := range route.Variables() {
				path = strings.ReplaceAll(path, "{"+name+"}", "x")
			}
			body := ""
			if o.HasBody(route) {
				body = "{}"
			}
			routes++
			r := s.do(route.Method, path, body, "X-Request-Id", "reach")
			if o.Method() == "Revoke" && r.status == http.StatusBadRequest {
				continue // its body is a form
			}
			if strings.Contains(r.body, `"Not Found"`) || r.status == http.StatusNotImplemented || r.status >= 500 {
				t.Errorf("%s %s: %d %s", route.Method, path, r.status, r.body)
			}
		}
	}
	seen := map[string]bool{}
	events, _ := s.logs.find(t, "reach", routes)
	for _, e := range events {
		seen[e["operation"].(string)+" "+e["method"].(string)+" "+e["route"].(string)] = true
	}
	for _, o := range handler.Operations() {
		for _, route := range o.Routes {
			if name := o.Name + " " + route.Method + " " + route.Pattern; !seen[name] {
				t.Errorf("%s: was answered by another operation", name)
			}
		}
	}
}

// TestSafeRoutes: no request with a safe method changes anything, since pages of other
// origins can make a browser send them. (The last step of signing in by a browser is an
// exception; it has a check of its own.)
func TestSafeRoutes(t *testing.T) {
	safe := []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	s := newServer(t, required)
	headers := []string{"Authorization", "Bearer " + s.token("")}
	state := func() (all []any) {
		tokens, _, err := s.service.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{}, 0, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range tokens {
			all = append(all, a.ID, a.UpdatedAt, a.ExpiresAt)
		}
		view, err := s.service.View(t.Context(), "default", service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		return append(all, view.Revision)
	}
	before := state()
	for _, o := range slices.Concat(handler.Operations(), handler.OperationsOverHTTP()) {
		for _, route := range o.Routes {
			if !slices.Contains(safe, route.Method) {
				continue
			}
			if (o.Changes() || o.Has(call.SignsInOrOut)) && o.Method() != "Callback" {
				t.Errorf("%s %s changes something", route.Method, route.Pattern)
			}
			for _, method := range safe {
				s.do(method, pathVariable.ReplaceAllString(route.Pattern, "default"), "", append([]string{"X-HTTP-Method-Override", "DELETE"}, headers...)...)
			}
		}
	}
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("safe requests have changed something (-before +after):\n%s", diff)
	}
}
