package service_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/service"
)

// sequence returns n subjects with the prefix: "<prefix>0" to "<prefix><n-1>".
func sequence(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(prefix, i)
	}
	return all
}

// TestSubjectLimits: a record keeps at most 256 subjects, that of the person included, and
// 200 groups. Which ones depends on the allow lists and bindings of that moment.
func TestSubjectLimits(t *testing.T) {
	const group, org, team = "oidc:acme:group:g", "codehost:org:o", "codehost:team:o/t"
	const email, domain = "oidc:acme:email:ada@acme.example", "oidc:acme:domain:acme.example"
	others := sequence(org, 2000)
	everyone := func() *service.AllowList { return &service.AllowList{Everyone: true} }
	allowing := func(subjects ...string) *service.AllowList { return &service.AllowList{Subjects: subjects} }
	for name, test := range map[string]struct {
		subject    string // of the person; "" means one of the OpenID provider
		has        []string
		list       *service.AllowList
		configured []string // subjects of bindings
		stored     []string
		want       []string
	}{
		"few":                {has: []string{domain, email, group + "1"}, list: everyone(), want: []string{domain, email, group + "1"}},
		"200 groups":         {has: append([]string{email, domain}, sequence(group, 200)...), list: everyone(), want: append([]string{email, domain}, sequence(group, 200)...)},
		"groups, none named": {has: append([]string{email, domain}, sequence(group, 201)...), list: everyone(), want: []string{email, domain}},
		"groups, named": {
			has: append([]string{email}, sequence(group, 2000)...), list: allowing(group+"1999", group+"5000"),
			configured: []string{group + "201", "oidc:other:group:g7"}, stored: []string{group + "0", group + "1000"},
			want: []string{email, group + "0", group + "201", group + "1000", group + "1999"},
		},
		"groups, all named": {
			has: append(sequence(group, 1000), email), list: allowing(sequence(group, 1000)...),
			want: append(sequence(group, 200), email),
		},
		"255 others":       {subject: "codehost:id:7", has: others[:255], list: everyone(), want: others[:255]},
		"256 others":       {subject: "codehost:id:7", has: others[:256], list: everyone(), want: others[:255]},
		"more, none named": {subject: "codehost:id:7", has: others, list: everyone(), want: others[:255]},
		"more, some named": {
			subject: "codehost:id:7", has: append(slices.Clone(others), team), list: allowing(org+"1500", "codehost:org:other"),
			configured: []string{team}, stored: []string{org + "1999", org + "3"},
			want: slices.Concat([]string{org + "3", org + "1500", org + "1999", team}, others[:3], others[4:252]),
		},
		"more, all named": {subject: "codehost:id:7", has: others, list: allowing(others...), want: others[:255]},
		"more, matching": {
			subject: "codehost:id:7", has: append(slices.Clone(others), "codehost:email:ada@acme.example"),
			list: &service.AllowList{EmailMatches: []*regexp.Regexp{regexp.MustCompile(`@acme\.example$`)}},
			want: append([]string{"codehost:email:ada@acme.example"}, others[:254]...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := &service.Identity{Method: service.MethodOIDC, Provider: "acme", Subject: "oidc:acme:sub:ada", Subjects: slices.Clone(test.has)}
			if test.subject != "" {
				id.Method, id.Subject = service.MethodCodehost, test.subject
			}
			var texts []string
			for _, subject := range test.configured {
				texts = append(texts, "viewer="+subject)
			}
			bindings, err := service.ConfiguredBindings(texts)
			if err != nil {
				t.Fatal(err)
			}
			p := &service.Policy{Bindings: bindings, Admissions: map[string]service.Admission{"oidc:acme": test.list, "codehost": test.list}}
			s := newService(t).WithPolicy(p)
			for _, subject := range test.stored {
				if _, err := s.CreateBinding(t.Context(), service.Write{}, service.RoleViewer, subject, nil); err != nil {
					t.Fatal(err)
				}
			}
			_, session, err := s.SignIn(t.Context(), service.Write{}, service.SignIn{Identity: id, Client: service.ClientBrowser, Lifetime: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			stored, err := s.Sessions(t.Context(), service.Demand{Fresh: true}, session)
			if err != nil || len(stored) != 1 {
				t.Fatalf("%d sessions, %v", len(stored), err)
			}
			if diff := cmp.Diff(test.want, stored[0].Subjects); diff != "" {
				t.Errorf("subjects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.has, id.Subjects); diff != "" {
				t.Errorf("the identity was modified (-before +after):\n%s", diff)
			}
		})
	}
}
