package login

import "github.com/guidonhq/guidon/handler/login/logintest"

// codehostSettings returns the settings for the code host, and further ones.
func codehostSettings(h *logintest.CodeHost, more ...string) []string {
	all := []string{"AUTHENTICATION_METHODS_CODEHOST_ENABLED=true"}
	for _, s := range append([]string{
		"TYPE=" + h.Kind(), "SERVER_URL=" + h.URL, "API_URL=" + h.API, "CLIENT_ID=" + h.ClientID, "CLIENT_SECRET=" + h.ClientSecret,
	}, more...) {
		all = append(all, "AUTHENTICATION_METHODS_CODEHOST_"+s)
	}
	return all
}
