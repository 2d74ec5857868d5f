package service_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestMay: a role holds in the namespaces of its patterns, and only there.
func TestMay(t *testing.T) {
	for _, test := range []struct {
		name       string
		role       service.Role
		namespaces []string
		need       service.Role
		namespace  string
		want       bool
	}{
		{"no role", service.RoleUnset, nil, service.RoleAdmin, "shop", true},
		{"no role, everywhere", service.RoleUnset, nil, service.RoleAdmin, service.Everywhere, true},
		{"no role in one namespace", service.RoleUnset, []string{"shop"}, service.RoleAdmin, "shop", true},
		{"no role in another", service.RoleUnset, []string{"shop"}, service.RoleAdmin, "other", false},
		{"no role in one, everywhere", service.RoleUnset, []string{"shop"}, service.RoleAdmin, service.Everywhere, false},
		{"the same role", service.RoleEditor, nil, service.RoleEditor, "shop", true},
		{"a higher one", service.RoleAdmin, nil, service.RoleEvaluator, "shop", true},
		{"a lower one", service.RoleViewer, nil, service.RoleEditor, "shop", false},
		{"none", service.RoleNone, nil, service.RoleEvaluator, "shop", false},
		{"a beginning", service.RoleViewer, []string{"pay-*"}, service.RoleViewer, "pay-eu", true},
		{"the beginning itself", service.RoleViewer, []string{"pay-*"}, service.RoleViewer, "pay-", true},
		{"less than the beginning", service.RoleViewer, []string{"pay-*"}, service.RoleViewer, "pay", false},
		{"a beginning, everywhere", service.RoleViewer, []string{"pay-*"}, service.RoleViewer, service.Everywhere, false},
		{"all namespaces", service.RoleViewer, []string{"*"}, service.RoleViewer, "shop", true},
		{"all namespaces, everywhere", service.RoleViewer, []string{"*"}, service.RoleViewer, service.Everywhere, true},
		{"upper case", service.RoleViewer, []string{"shop"}, service.RoleViewer, "Shop", false},
		{"the second of two", service.RoleViewer, []string{"a", "b"}, service.RoleViewer, "b", true},
		{"an empty list", service.RoleViewer, []string{}, service.RoleViewer, "b", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &service.Authentication{Method: service.MethodToken, Role: test.role, Namespaces: test.namespaces}
			if got := a.May(test.need, test.namespace); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

// TestRoleText: stored roles survive, and one of a later release gives no right.
func TestRoleText(t *testing.T) {
	for _, name := range []string{"evaluator", "client", "viewer", "editor", "admin", ""} {
		role, err := service.ParseRole(name)
		if err != nil || role.String() != name {
			t.Errorf("%q: got %v, %v", name, role, err)
		}
		body, err := json.Marshal(service.Authentication{Role: role})
		if err != nil {
			t.Fatal(err)
		}
		var read service.Authentication
		if err := json.Unmarshal(body, &read); err != nil || read.Role != role {
			t.Errorf("%s: got %v, %v", body, read.Role, err)
		}
	}
	for _, name := range []string{"none", "owner", "Admin", "admin "} {
		if _, err := service.ParseRole(name); !errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), "field role") {
			t.Errorf("%q: got error %v", name, err)
		}
		var a service.Authentication
		if err := json.Unmarshal([]byte(`{"role":"`+name+`"}`), &a); err != nil || a.Role != service.RoleNone || a.May(service.RoleEvaluator, "shop") {
			t.Errorf("a stored %q gives %v, %v", name, a.Role, err)
		}
	}
}

// TestTokenMetadata: nobody can make up what the service says about a token.
func TestTokenMetadata(t *testing.T) {
	s := newService(t)
	for key, ok := range map[string]bool{
		"team": true, "io.service.auth": true, "IO.service.auth.x": true,
		"io.service.auth.token.namespace": false, "io.service.auth.anything": false, "io.service.auth.": false,
	} {
		_, _, err := s.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "t", Metadata: map[string]string{key: "x"}})
		if got := err == nil; got != ok || !ok && !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("%s: got error %v", key, err)
		}
	}
}

// TestGrantedNamespaces: where a token's role holds is checked when the token is created.
func TestGrantedNamespaces(t *testing.T) {
	s := newService(t)
	many := make([]string, 101)
	for i := range many {
		many[i] = "n"
	}
	for _, test := range []struct {
		name       string
		namespaces []string
		want       string // the field of the error, or "" for none
	}{
		{"keys and patterns", []string{"shop", "pay-*", "*", "a,b_C-1"}, ""},
		{"nothing", nil, ""},
		{"the most", many[:100], ""},
		{"more", many, "namespaceKeys"},
		{"an empty one", []string{"a", ""}, "namespaceKeys[1]"},
		{"a star inside", []string{"a*b"}, "namespaceKeys[0]"},
		{"two stars", []string{"**"}, "namespaceKeys[0]"},
		{"a slash", []string{"a/b"}, "namespaceKeys[0]"},
		{"too long", []string{strings.Repeat("a", 256)}, "namespaceKeys[0]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := s.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "t", Role: service.RoleViewer, Namespaces: test.namespaces})
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (!errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), "invalid field "+test.want+":")):
				t.Errorf("got error %v, want one of the field %s", err, test.want)
			}
		})
	}
}

// TestLimitedToken: a token that could do nothing, because its role holds only elsewhere, is not created, and a stored
// one does not look as if it could do something.
func TestLimitedToken(t *testing.T) {
	s := newService(t)
	for patterns, want := range map[string][]service.Grant{
		"":          {{Role: service.RoleViewer, Namespaces: []string{"a"}, Origin: service.OriginToken}},
		"b,a":       {{Role: service.RoleViewer, Namespaces: []string{"a"}, Origin: service.OriginToken}},
		"a*":        {{Role: service.RoleViewer, Namespaces: []string{"a"}, Origin: service.OriginToken}},
		"*":         {{Role: service.RoleViewer, Namespaces: []string{"a"}, Origin: service.OriginToken}},
		"b":         nil,
		"b,aa,ab-*": nil,
	} {
		in := service.TokenInput{Name: "t", Role: service.RoleViewer, Namespace: "a"}
		if patterns != "" {
			in.Namespaces = strings.Split(patterns, ",")
		}
		_, _, err := s.CreateToken(t.Context(), service.Write{}, in)
		if want == nil {
			wantCode(t, patterns, err, guidon.InvalidArgument)
		} else if err != nil {
			t.Errorf("%s: %v", patterns, err)
		}
		if want == nil && (err == nil || !strings.Contains(err.Error(), "namespaceKeys") || !strings.Contains(err.Error(), "namespaceKey ")) {
			t.Errorf("%s: got %v, want the names of both fields", patterns, err)
		}
		stored := &service.Authentication{
			Method: service.MethodToken, Role: in.Role, Namespaces: in.Namespaces, Metadata: map[string]string{service.MetadataTokenNamespace: "a"},
		}
		if diff := cmp.Diff(want, stored.Grants()); diff != "" {
			t.Errorf("%s: grants (-want +got):\n%s", patterns, diff)
		}
	}
}
