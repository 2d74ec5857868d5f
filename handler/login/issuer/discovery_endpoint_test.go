package issuer_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

func TestEndpoint(t *testing.T) {
	for _, test := range []struct {
		name    string
		methods []string
		secret  bool
		want    oauth2.AuthStyle // 0 is an error
	}{
		{"nothing listed", nil, true, oauth2.AuthStyleInHeader},
		{"basic", []string{"client_secret_basic"}, true, oauth2.AuthStyleInHeader},
		{"basic after post", []string{"client_secret_post", "client_secret_basic"}, true, oauth2.AuthStyleInHeader},
		{"post", []string{"private_key_jwt", "client_secret_post"}, true, oauth2.AuthStyleInParams},
		{"neither", []string{"private_key_jwt", "tls_client_auth"}, true, 0},
		{"public client", []string{"client_secret_basic"}, false, oauth2.AuthStyleInParams},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := issuer.Document{AuthorizationEndpoint: "https://a.example/a", TokenEndpoint: "https://a.example/t", TokenAuthMethods: test.methods}
			got, err := d.Endpoint(test.secret)
			if test.want == 0 {
				if err == nil || !strings.Contains(err.Error(), "private_key_jwt, tls_client_auth") {
					t.Errorf("got error %v, want one that lists the methods", err)
				}
				return
			}
			want := oauth2.Endpoint{AuthURL: "https://a.example/a", TokenURL: "https://a.example/t", AuthStyle: test.want}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v, endpoint (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestExchange: golang.org/x/oauth2 sends a code once, within the limits of the client.
func TestExchange(t *testing.T) {
	p := logintest.NewProvider(t)
	client, err := provider.New(provider.Config{Name: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, p, logintest.NewClock(), nil)
	d, err := s.Document(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := d.Endpoint(true)
	if err != nil {
		t.Fatal(err)
	}
	config := oauth2.Config{ClientID: "id", ClientSecret: "secret", Endpoint: endpoint}
	exchange := func() (*oauth2.Token, error) {
		return config.Exchange(context.WithValue(t.Context(), oauth2.HTTPClient, client.HTTP()), "code")
	}

	p.Serve("/token", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "id" || secret != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"a","token_type":"Bearer"}`))
	}))
	if token, err := exchange(); err != nil || token.AccessToken != "a" {
		t.Errorf("got %v and %v, want the token", token, err)
	}
	for _, fault := range logintest.Faults() {
		p.Serve("/token", fault.Handler)
		before := p.Requests("/token")
		if _, err := exchange(); err == nil {
			t.Errorf("%s: no error", fault.Name)
		}
		if n := p.Requests("/token") - before; n != 1 {
			t.Errorf("%s: the code was sent %d times", fault.Name, n)
		}
	}
	p.Serve("/token", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/authorize", http.StatusTemporaryRedirect)
	}))
	if _, err := exchange(); err == nil || errors.As(err, new(*oauth2.RetrieveError)) {
		t.Errorf("redirect: got %v, want the error of the client", err)
	}
	if n := p.Requests("/authorize"); n != 0 {
		t.Error("the code was sent along with a redirect")
	}
}
