package web

import (
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
)

// operations are those that pages run.
type operations struct {
	methods       *call.Operation
	self          *call.Operation
	revokeSelf    *call.Operation
	createSession *call.Operation
	createGrant   *call.Operation // nil if the command line cannot sign in
}

// findOperations returns the operations of the rows. It panics if one is missing, other
// than createGrant.
func findOperations(rows []exchange.Row) operations {
	byName := make(map[string]*call.Operation, len(rows))
	for _, row := range rows {
		byName[row.Name] = row.Operation
	}
	find := func(name string) *call.Operation {
		o := byName[name]
		if o == nil {
			panic("web: there is no operation " + name)
		}
		return o
	}
	grants := byName["/guidon.v1.SessionService/CreateGrant"]
	if grants != nil && !grants.Enabled() {
		grants = nil
	}
	return operations{
		methods:       find("/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods"),
		self:          find("/flipt.auth.AuthenticationService/GetAuthenticationSelf"),
		revokeSelf:    find("/flipt.auth.AuthenticationService/RevokeAuthenticationSelf"),
		createSession: find("/guidon.v1.SessionService/CreateSession"),
		createGrant:   grants,
	}
}

// run runs an operation for the session of the browser or, if there is a token, for that.
// It sets the cookies of the response. An Authorization header is ignored: what a proxy
// requires there is not for pages.
func run(x *exchange.Exchange, o *call.Operation, m proto.Message, token string) (call.Response, error) {
	credentials := call.Credentials{Cookie: x.Request.Header["Cookie"]}
	if token != "" {
		credentials.Authorization = []string{"Bearer " + token}
	}
	response, err := x.CarryAgain(x.Request.Context(), o, &call.Request{
		Credentials: credentials, Message: m, Sender: x, RequestID: x.Event.RequestID, Transport: "http",
	})
	for _, cookie := range response.SetCookie {
		x.Header().Add("Set-Cookie", cookie)
	}
	return response, err
}
