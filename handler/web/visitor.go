package web

import (
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// visitor is the signed-in visitor, as pages show them.
type visitor struct {
	Name  string // never empty
	Token bool   // Name is that of a static token
}

// maxName limits the names on pages, in bytes.
const maxName = 128

// isSignedOut reports whether err is that of a browser without a valid session. One beyond
// the limit of failures is not: it wraps such an error, but nothing was found out.
func isSignedOut(err error) bool { return guidon.CodeOf(err) == guidon.Unauthenticated }

// whoami returns the visitor, or Unauthenticated if the browser has no valid session.
func (p *pages) whoami(x *exchange.Exchange) (visitor, error) {
	if !p.config.Session.In(x.Request.Header["Cookie"]) {
		return visitor{}, call.Unauthenticated("the browser has no session")
	}
	response, err := run(x, p.operations.self, &emptypb.Empty{}, "")
	if err != nil {
		return visitor{}, err
	}
	return visitorOf(response.Message.(*auth.Authentication)), nil
}

// visitorNames are the metadata with the name of an account, the best first.
var visitorNames = []string{"io.service.auth.name", "io.service.auth.email", service.MetadataTokenName}

func visitorOf(a *auth.Authentication) visitor {
	v := visitor{Name: "an account without a name", Token: a.GetMethod() == auth.Method_METHOD_TOKEN}
	for _, key := range visitorNames {
		if name := printable(a.GetMetadata()[key], maxName); name != "" {
			v.Name = name
			break
		}
	}
	return v
}
