package config

import "strings"

// Client holds the settings of the environment for the server that commands work on.
type Client struct {
	Address   string // a URL, or the name of a context
	Namespace string
	CAFile    string
	Database  bool // it names a database to work on
}

// ClientFrom returns the settings of the environment.
func ClientFrom(environ []string) Client {
	env := newEnvironment(environ)
	c := Client{Address: env["GUIDON_ADDRESS"], Namespace: env["GUIDON_NAMESPACE"], CAFile: env["GUIDON_CA_FILE"]}
	for name, value := range env {
		c.Database = c.Database || strings.HasPrefix(name, "GUIDON_DB_") && value != ""
	}
	return c
}

// ContextsFile returns the path of the file of the contexts of the command line, or "" if
// the user's configuration directory is not known.
func ContextsFile(environ []string) string {
	return newEnvironment(environ).inUserDir("contexts.yml")
}
