package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/internal/clock"
)

const healthHelp = `Check the health of a running server, and exit with 0 if it is serving. This is the
health check for containers, whose image contains no other program. A server whose
database is away still serves; one whose database file was removed or replaced does not.

Without --address and a context in use, it checks the server of this configuration on this
machine, and does not verify its certificate, which is issued for the name that clients
use. No token is needed or sent.`

// maxHealthResponse is how much of a response is read, in bytes.
const maxHealthResponse = 4096

// HealthCommand returns the command "health".
func HealthCommand(p *cli.Program) *cobra.Command {
	c := &cli.Connection{Timeout: 3 * time.Second}
	return p.Command(cli.Verb{
		Use: "health", Short: "Check whether a running server is serving", Long: healthHelp,
		Example: `  guidon health
  guidon health --address https://flags.example.com --timeout 1s
  guidon health --context staging`,
		Options: func(command *cobra.Command) {
			c.AddressFlags(command)
			cli.OrLocal(command)
		},
		Run: func(ctx context.Context, _ []string) error { return health(ctx, p, c) },
	})
}

func health(ctx context.Context, p *cli.Program, c *cli.Connection) error {
	address, transport := c.Address, &http.Transport{}
	if address == "" {
		configured, err := config.LoadServer(p.ConfigFile, p.Environ)
		if err != nil {
			return err
		}
		if address, err = ownAddress(configured); err != nil {
			return err
		}
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // #nosec G402 -- this machine's own server; nothing secret is sent
	} else {
		if err := checkHealthAddress(address); err != nil {
			return err
		}
		transport.Proxy = http.ProxyFromEnvironment
		var err error
		if transport.TLSClientConfig, err = c.Options("").TLS(); err != nil {
			return cli.UsageError("%w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	if err := checkHealth(ctx, transport, strings.TrimRight(address, "/")+"/health?full"); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no response within %s", clock.Text(c.Timeout))
		}
		return fmt.Errorf("%s is not serving: %w", address, err)
	}
	fmt.Fprintln(p.Out, "serving")
	return nil
}

// ownAddress returns the URL of the configured server on its own machine.
func ownAddress(s config.Server) (string, error) {
	if s.WebPort() == 0 {
		return "", cli.UsageError("the configured port is 0, any free port; specify the server with --address")
	}
	host := s.Host
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "", err == nil && ip == netip.IPv4Unspecified():
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return s.Protocol + "://" + net.JoinHostPort(host, strconv.Itoa(s.WebPort())), nil
}

func checkHealthAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return cli.UsageError("invalid address: health needs the form http://host:8080 or https://host, without user, query or fragment")
	}
	return nil
}

// checkHealth returns nil if the server at the URL reports that it is serving.
func checkHealth(ctx context.Context, transport *http.Transport, target string) error {
	defer transport.CloseIdleConnections()
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return errors.Unwrap(err) // without the URL, which the caller adds
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHealthResponse))
	var health struct {
		Status   string
		Database struct{ Reason string }
	}
	switch {
	case err != nil:
		return err
	case response.StatusCode == http.StatusServiceUnavailable:
		return errors.New("stopping, or not ready yet")
	case response.StatusCode != http.StatusOK || json.Unmarshal(body, &health) != nil || health.Status != "SERVING":
		return fmt.Errorf("unexpected response %s; is this a Guidon server?", response.Status)
	case health.Database.Reason != "":
		return errors.New(health.Database.Reason)
	}
	return nil
}
