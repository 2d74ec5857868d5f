package access

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// useServer makes the server that the user has signed in to the one that commands use: it
// finds or creates a context for it, and returns its name.
func (l *login) useServer(ctx context.Context) (name string, err error) {
	caFile := l.connection.CAFile
	if caFile != "" {
		if caFile, err = filepath.Abs(caFile); err != nil {
			return "", err
		}
	}
	err = l.UpdateContexts(ctx, func(all *machine.Contexts) error {
		name = cmp.Or(l.context, all.At(l.address), freeName(all, contextName(l.address)))
		c := all.Named[name]
		if c.Address == "" || l.context != "" {
			c.Address = l.address
		}
		if caFile != "" {
			c.CAFile = caFile
		}
		all.Named[name], all.Current = c, name
		return nil
	})
	return name, err
}

// contextName returns the name of the context for a server at the normalized address: its
// host, with the port if that is not the usual one.
func contextName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "server"
	}
	host := u.Hostname()
	if net.ParseIP(host) != nil {
		host = strings.ReplaceAll(host, ":", "-")
	}
	if u.Port() != "" {
		host += "-" + u.Port()
	}
	if !machine.IsContextName(host) {
		return "server"
	}
	return host
}

// freeName returns the name, with a number if there is a context with it.
func freeName(all *machine.Contexts, name string) string {
	free := name
	for n := 2; all.Named[free].Address != ""; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
