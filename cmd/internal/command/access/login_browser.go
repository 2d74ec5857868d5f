package access

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/clock"
)

// maxPasted limits the code that the user pastes, in bytes.
const maxPasted = 4096

// revokeWait is the longest wait for a token to be revoked that cannot be kept.
const revokeWait = 10 * time.Second

// withBrowser obtains a token by the sign-in page of the server. The code that the page
// gives is worth nothing without the verifier (RFC 7636), which stays in this process.
func (l *login) withBrowser(ctx context.Context) error {
	if !cli.OpensInBrowser(l.address) {
		return cli.UsageError("a browser needs the http:// or https:// address of the server; use that, or --token")
	}
	server, err := cli.Dial(l.address, l.connection.Options(""))
	if err != nil {
		return err
	}
	defer server.Close()
	if err := l.checkMethods(ctx, server); err != nil {
		return err
	}
	verifier := oauth2.GenerateVerifier()
	query := url.Values{"challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "name": {l.name}}
	code, err := l.code(ctx, query)
	if err != nil {
		return err
	}
	return l.exchange(ctx, server, code, verifier)
}

// checkMethods returns an error if the server has no method of signing in with a browser.
func (l *login) checkMethods(ctx context.Context, server client.Client) error {
	list, err := cli.Call[auth.ListAuthenticationMethodsResponse](ctx, server,
		"/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", new(emptypb.Empty))
	if err != nil {
		return err
	}
	for _, method := range list.GetMethods() {
		if method.GetEnabled() && (method.GetSessionCompatible() || method.GetMethod() == auth.Method_METHOD_TOKEN) {
			return nil
		}
	}
	return fmt.Errorf("%s has no method to sign in with a browser; authentication.methods enables them", l.address)
}

// code returns the code of the sign-in page, for which the user has some time.
func (l *login) code(ctx context.Context, query url.Values) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, l.LoginWait)
	defer cancel()
	receive := l.received
	if l.noBrowser {
		receive = l.pasted
	}
	code, err := receive(bounded, query)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return "", fmt.Errorf("nobody signed in within %s; run the command again, with --no-browser if the browser is on another machine",
			clock.Text(l.LoginWait))
	}
	return code, err
}

// received returns the code that the browser brings back to this machine.
func (l *login) received(ctx context.Context, query url.Values) (string, error) {
	receiver, err := machine.ListenLoopback()
	if err != nil {
		return "", fmt.Errorf("cannot listen for the browser: %w; use --no-browser", err)
	}
	defer receiver.Close()
	query.Set("port", strconv.Itoa(receiver.Port()))
	query.Set("state", receiver.State())
	page := l.page(query)
	fmt.Fprintf(l.Err, "Opening a browser to sign in. If it does not open, visit:\n\n  %s\n\n", page)
	if err := machine.OpenBrowser(l.Environ, page); err != nil {
		fmt.Fprintf(l.Err, "cannot open a browser: %v\n", err)
	}
	code, err := receiver.Receive(ctx)
	if errors.Is(err, machine.ErrSignInDenied) {
		err = fmt.Errorf("not signed in: %w", err)
	}
	return code, err
}

// pasted returns the code that the user copies from the page.
func (l *login) pasted(ctx context.Context, query url.Values) (string, error) {
	fmt.Fprintf(l.Err, "To sign in, visit:\n\n  %s\n\nCode: ", l.page(query))
	line, err := l.ReadLine(ctx, maxPasted)
	if err != nil {
		return "", err
	}
	if line == "" {
		return "", errors.New("not signed in: no code was entered")
	}
	return line, nil
}

// page returns the address of the sign-in page.
func (l *login) page(query url.Values) string {
	return l.address + "/sign-in/cli?" + query.Encode()
}

// exchange trades the code for a token and keeps that.
func (l *login) exchange(ctx context.Context, server client.Client, code, verifier string) error {
	response, err := cli.Call[guidonv1.ExchangeGrantResponse](ctx, server, "/guidon.v1.SessionService/ExchangeGrant",
		&guidonv1.ExchangeGrantRequest{Code: code, CodeVerifier: verifier})
	switch {
	case errors.Is(err, guidon.Unauthenticated): // without the hint to provide a token
		return fmt.Errorf("the server did not accept the code, which is valid once and for a short time: %s; run the command again",
			guidon.PublicMessage(err))
	case err != nil:
		return fmt.Errorf("cannot exchange the code for a token: %w", err)
	case response.GetClientToken() == "":
		return fmt.Errorf("unexpected response from %s: it contains no token", l.address)
	}
	credential := machine.Credential{Token: response.GetClientToken(), Session: true}
	if err := l.file.Set(ctx, l.address, credential); err != nil {
		return errors.Join(fmt.Errorf("cannot keep the token: %w", err), l.discard(ctx, credential.Token))
	}
	return l.report(ctx, response.GetAuthentication())
}

// discard revokes a token that cannot be kept.
func (l *login) discard(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeWait)
	defer cancel()
	server, err := cli.Dial(l.address, l.connection.Options(token))
	if err == nil {
		defer server.Close()
		_, err = revoke(ctx, server, false)
	}
	if err != nil {
		return fmt.Errorf("cannot revoke it, so it stays valid until it expires: %w", err)
	}
	return nil
}
