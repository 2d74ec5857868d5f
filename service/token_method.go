package service

// Method is the way in which an authentication was created. The numbers are those
// of the wire (contract 12.3).
type Method int32

// Methods. The service creates authentications of MethodToken only; a taken-over Flipt v1
// has others.
const (
	MethodNone       Method = 0
	MethodToken      Method = 1
	MethodOIDC       Method = 2
	MethodKubernetes Method = 3
	MethodCodehost   Method = 4
	MethodJWT        Method = 5
	MethodCloud      Method = 6
)

// methods describes each method.
var methods = [...]struct {
	name     string // on the wire
	stored   bool   // its authentications are in the store, which are cleaned up when they have expired
	browser  bool   // for people with a browser, not for machines
	actorKey string // the metadata with the name of the actor
}{
	MethodNone:       {name: "METHOD_NONE"},
	MethodToken:      {name: "METHOD_TOKEN", stored: true, actorKey: MetadataTokenName},
	MethodOIDC:       {name: "METHOD_OIDC", stored: true, browser: true},
	MethodKubernetes: {name: "METHOD_KUBERNETES", stored: true},
	MethodCodehost:   {name: "METHOD_CODEHOST", stored: true, browser: true},
	MethodJWT:        {name: "METHOD_JWT"},
	MethodCloud:      {name: "METHOD_CLOUD", stored: true},
}

// Methods returns the methods that clients are told of, in the order of contract 10.4.
func Methods() []Method {
	return []Method{MethodToken, MethodCodehost, MethodOIDC, MethodKubernetes, MethodJWT}
}

// StoredMethods returns the methods whose authentications are in the store.
func StoredMethods() []Method {
	var stored []Method
	for m := range methods {
		if methods[m].stored {
			stored = append(stored, Method(m)) // #nosec G115 -- an index of methods
		}
	}
	return stored
}

// known returns the method, or MethodNone if it is unknown.
func (m Method) known() Method {
	if m < 0 || int(m) >= len(methods) {
		return MethodNone
	}
	return m
}

// String returns the wire name, which is METHOD_NONE for unknown methods.
func (m Method) String() string { return methods[m.known()].name }

// Browser reports whether people sign in with the method in a browser. Otherwise it is for
// machines.
func (m Method) Browser() bool { return methods[m.known()].browser }

// actorName returns the name of the actor in the metadata of an authentication.
func (m Method) actorName(metadata map[string]string) string {
	return metadata[methods[m.known()].actorKey]
}
