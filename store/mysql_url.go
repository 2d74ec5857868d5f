package store

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// openMySQLDSN opens a DSN of the Go driver.
func openMySQLDSN(dsn string, options Options) (*DB, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("database URL: cannot parse the DSN; use user:password@tcp(host:port)/database?parameters")
	}
	return openMySQL(config, options)
}

// openMySQLURL opens a mysql:// URL.
func openMySQLURL(text string, options Options) (*DB, error) {
	u, err := url.Parse(text)
	if err != nil { // its text shows the URL
		return nil, errors.New("cannot parse the database URL; use mysql://user:password@host:port/database, with special characters as %xx")
	}
	parameters := u.Query()
	encryption, err := extractTLS(parameters, u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	network, address := "tcp", net.JoinHostPort(cmp.Or(u.Hostname(), "127.0.0.1"), cmp.Or(u.Port(), "3306"))
	if socket := parameters.Get("socket"); socket != "" {
		parameters.Del("socket")
		network, address = "unix", socket
	}
	for name := range parameters {
		if slices.Contains([]string{"user", "username", "password", "passwd"}, strings.ToLower(name)) {
			// The driver would send it to the server as a variable, and the error shows it.
			return nil, fmt.Errorf("database URL: the parameter %s is not supported; use mysql://user:password@host:port/database",
				strings.ToLower(name))
		}
	}
	// The driver parses only the parameters. The credentials are set below.
	config, err := mysql.ParseDSN("tcp(127.0.0.1:3306)/?" + parameters.Encode())
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	config.Net, config.Addr, config.DBName = network, address, strings.TrimPrefix(u.Path, "/")
	if config.DBName == "" {
		return nil, errors.New("database URL names no database; use mysql://user:password@host:port/database")
	}
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	if encryption != nil {
		config.TLS = encryption
	}
	return openMySQL(config, options)
}

// extractTLS removes the TLS parameters of MySQL's own clients. It returns nil if the
// driver's parameter tls, which it may have set, applies instead.
func extractTLS(parameters url.Values, host string) (*tls.Config, error) {
	take := func(name string) string {
		value := cmp.Or(parameters.Get(name), parameters.Get(strings.ReplaceAll(name, "-", "")),
			parameters.Get(strings.ReplaceAll(name, "-", "_")))
		for _, spelling := range []string{name, strings.ReplaceAll(name, "-", ""), strings.ReplaceAll(name, "-", "_")} {
			parameters.Del(spelling)
		}
		return value
	}
	mode, authority := strings.ToUpper(take("ssl-mode")), take("ssl-ca")
	certificate, key := take("ssl-cert"), take("ssl-key")
	verify := mode == "VERIFY_CA" || mode == "VERIFY_IDENTITY" || mode == "" && authority != ""
	switch mode {
	case "":
	case "DISABLED":
		parameters.Set("tls", "false")
		return nil, nil
	case "PREFERRED":
		parameters.Set("tls", "preferred")
	case "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY":
		parameters.Set("tls", "true")
	default:
		return nil, errors.New("invalid ssl-mode: must be DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY")
	}
	if mode == "REQUIRED" {
		parameters.Set("tls", "skip-verify")
	}
	if authority == "" && certificate == "" {
		return nil, nil
	}
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: !verify} // #nosec G402 -- according to ssl-mode
	if authority != "" {
		pem, err := os.ReadFile(authority) // #nosec G304 -- the operator's own choice
		if err != nil {
			return nil, fmt.Errorf("ssl-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ssl-ca: %q contains no certificate", authority)
		}
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("ssl-cert and ssl-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
