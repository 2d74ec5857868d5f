package web

// The operations that pages of signing in run.
const (
	listMethods   = "/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods"
	getSelf       = "/flipt.auth.AuthenticationService/GetAuthenticationSelf"
	revokeSelf    = "/flipt.auth.AuthenticationService/RevokeAuthenticationSelf"
	createSession = "/guidon.v1.SessionService/CreateSession"
	createGrant   = "/guidon.v1.SessionService/CreateGrant"
)
