package service

// Method is the way in which an authentication was created. The numbers are those
// of the wire (contract 12.3).
type Method int32

// Methods. Authentications of methods that this service does not have can only be those of
// a Flipt v1 that it took over.
const (
	MethodNone       Method = 0
	MethodToken      Method = 1
	MethodOIDC       Method = 2
	MethodKubernetes Method = 3
	MethodCodehost   Method = 4
	MethodJWT        Method = 5
	MethodCloud      Method = 6
)

// personKeys are the metadata with the name of a person.
var personKeys = []string{"io.service.auth.name", "io.service.auth.email"}

// methods describes each method.
var methods = [...]struct {
	name      string   // on the wire
	cleaned   bool     // its authentications are deleted some time after they have expired
	browser   bool     // for people with a browser, not for machines
	actorKeys []string // the metadata with the name of the actor, the best first
}{
	MethodNone:       {name: "METHOD_NONE"},
	MethodToken:      {name: "METHOD_TOKEN", cleaned: true, actorKeys: []string{MetadataTokenName}},
	MethodOIDC:       {name: "METHOD_OIDC", browser: true, cleaned: true, actorKeys: personKeys},
	MethodKubernetes: {name: "METHOD_KUBERNETES", cleaned: true},
	MethodCodehost:   {name: "METHOD_CODEHOST", browser: true, cleaned: true, actorKeys: personKeys},
	MethodJWT:        {name: "METHOD_JWT", actorKeys: personKeys},
	MethodCloud:      {name: "METHOD_CLOUD"},
}

// Methods returns the methods that clients can list, in the order of contract 10.4.
func Methods() []Method {
	return []Method{MethodToken, MethodCodehost, MethodOIDC, MethodKubernetes, MethodJWT}
}

// CleanedMethods returns the methods whose expired authentications are deleted (operations
// 1.12).
func CleanedMethods() []Method {
	var cleaned []Method
	for m := range methods {
		if methods[m].cleaned {
			cleaned = append(cleaned, Method(m)) // #nosec G115 -- an index of methods
		}
	}
	return cleaned
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
	for _, key := range methods[m.known()].actorKeys {
		if name := metadata[key]; name != "" {
			return name
		}
	}
	return ""
}
