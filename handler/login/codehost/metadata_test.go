package codehost_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/service"
)

// checkMetadata checks the limits of metadata, and that lists are JSON.
func checkMetadata(t testing.TB, identity *service.Identity) {
	t.Helper()
	total := 0
	for key, value := range identity.Metadata {
		total += len(key) + len(value)
		if len(value) > 1024 || strings.ContainsFunc(value, unicode.IsControl) || !strings.HasPrefix(key, "io.service.auth.") {
			t.Errorf("%s: value %q of %d bytes", key, value, len(value))
		}
		if strings.HasSuffix(key, ".picture") && !strings.HasPrefix(value, "https://") {
			t.Errorf("%s is %q", key, value)
		}
		if strings.HasSuffix(key, ".organizations") && json.Unmarshal([]byte(value), new([]string)) != nil {
			t.Errorf("%s is %q", key, value)
		}
		if strings.HasSuffix(key, ".teams") && json.Unmarshal([]byte(value), new(map[string][]string)) != nil {
			t.Errorf("%s is %q", key, value)
		}
	}
	if total > 8<<10 {
		t.Errorf("%d bytes of metadata", total)
	}
}

func TestMetadataValues(t *testing.T) {
	long := strings.Repeat("n", 1024)
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		for _, test := range []struct{ name, wantName, picture, wantPicture string }{
			{"Ada", "Ada", "https://a.example/?x=y", "https://a.example/?x=y"},
			{long, long, "https://a.example/" + long, ""},
			{long + "n", "", "http://a.example/", ""},
			{"Ada\nLovelace", "", "javascript:alert(1)", ""},
			{"Ada\x1b[31m", "", "//a.example/x", ""},
			{"Ada\u0085", "", "https://user@a.example/", ""},
			{"", "", "", ""},
			{"Ада 👩‍💻", "Ада 👩‍💻", "https:///x", ""},
			{"<Ada> & \"co\"", "<Ada> & \"co\"", "https://a.example/\n", ""},
			{"a", "a", "data:text/html,x", ""},
		} {
			double.Account.Name, double.Account.Picture = test.name, test.picture
			identity, err := signIn(t, double, host)
			if err != nil {
				t.Fatal(err)
			}
			checkMetadata(t, identity)
			for _, prefix := range []string{"io.service.auth.", "io.service.auth.codehost."} {
				if got := identity.Metadata[prefix+"name"]; got != test.wantName {
					t.Errorf("%sname is %q, want %q", prefix, got, test.wantName)
				}
				if got := identity.Metadata[prefix+"picture"]; got != test.wantPicture {
					t.Errorf("%spicture is %q, want %q", prefix, got, test.wantPicture)
				}
			}
		}
	})
}

// TestMetadataLists: long lists end after a whole element, while the subjects are complete.
func TestMetadataLists(t *testing.T) {
	double, host := start(t, codehost.GitHub, nil)
	double.Account.Organizations, double.Account.Teams = nil, nil
	for i := range 300 {
		double.Account.Organizations = append(double.Account.Organizations, fmt.Sprintf("Organization-%03d", i))
		double.Account.Teams = append(double.Account.Teams, [2]string{fmt.Sprintf("Organization-%03d", i/3), fmt.Sprintf("Team-%d", i)})
	}
	identity, err := signIn(t, double, host)
	if err != nil {
		t.Fatal(err)
	}
	checkMetadata(t, identity)
	if n := len(identity.Subjects); n != 602 {
		t.Errorf("%d subjects, want 602", n)
	}
	var names []string
	text := identity.Metadata["io.service.auth.github.organizations"]
	if err := json.Unmarshal([]byte(text), &names); err != nil {
		t.Fatal(err)
	}
	// ["Organization-000", … takes 19 bytes for each, and one more.
	if len(names) != 53 || names[0] != "Organization-000" || names[52] != "Organization-052" {
		t.Errorf("%d organizations: %s", len(names), text)
	}
	var teams map[string][]string
	text = identity.Metadata["io.service.auth.github.teams"]
	if err := json.Unmarshal([]byte(text), &teams); err != nil || len(text) < 1000 || len(teams["Organization-000"]) != 3 {
		t.Errorf("teams of %d bytes: %s", len(text), text)
	}
}

// TestMetadataTotal: all values together do not exceed the limit. Those of Flipt v1 come
// first.
func TestMetadataTotal(t *testing.T) {
	double, host := start(t, codehost.GitHub, nil)
	a := &double.Account
	a.Name, a.Login = strings.Repeat("n", 1024), strings.Repeat("l", 1024)
	a.Picture = "https://a.example/" + strings.Repeat("p", 1000)
	a.Organizations, a.Teams = nil, nil
	for i := range 100 {
		a.Organizations = append(a.Organizations, fmt.Sprintf("Organization-%03d", i))
		a.Teams = append(a.Teams, [2]string{fmt.Sprintf("Organization-%03d", i), "Team"})
	}
	identity, err := signIn(t, double, host)
	if err != nil {
		t.Fatal(err)
	}
	checkMetadata(t, identity)
	for _, key := range []string{"name", "email", "picture", "github.sub", "github.preferred_username", "github.name", "github.email", "github.picture", "github.organizations", "github.teams"} {
		if identity.Metadata["io.service.auth."+key] == "" {
			t.Errorf("%s is missing", key)
		}
	}
	if identity.Metadata["io.service.auth.codehost.sub"] != "583231" || identity.Metadata["io.service.auth.codehost.picture"] != "" {
		t.Errorf("what fits of the rest is not there: %v", identity.Metadata)
	}
}

// TestEmptyLists: no organization is an empty list, and not null.
func TestEmptyLists(t *testing.T) {
	forEach(t, func(t *testing.T, kind string) {
		double, host := start(t, kind, nil)
		double.Account.Organizations, double.Account.Teams = nil, nil
		identity, err := signIn(t, double, host)
		if err != nil {
			t.Fatal(err)
		}
		if got := identity.Metadata["io.service.auth.codehost.organizations"]; got != "[]" {
			t.Errorf("organizations are %q, want []", got)
		}
		want := "{}"
		if kind == codehost.GitLab {
			want = ""
		}
		if got := identity.Metadata["io.service.auth.codehost.teams"]; got != want {
			t.Errorf("teams are %q, want %q", got, want)
		}
	})
}
