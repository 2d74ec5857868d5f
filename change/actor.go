package change

// Actor is the author of a change.
type Actor struct {
	ID     string `json:"id"`               // stable: "token:<uuid>", "anonymous", "cli:<user>", "system:<task>"
	Name   string `json:"name,omitempty"`   // for display
	Method string `json:"method,omitempty"` // wire name of the Method of the credential
}

// Anonymous is the actor of calls without a credential.
var Anonymous = Actor{ID: "anonymous"}
