package service

import "time"

// Identity is the identity of a person or a workload according to the provider that vouches
// for it. Its access is decided by bindings, not by the provider.
type Identity struct {
	Method   Method
	Provider string // the name of the OpenID provider, otherwise ""

	// Subject identifies the person or workload, and is the actor of change records. It never
	// depends on values that people can change or that may be given to someone else, such as
	// an e-mail address:
	//
	//	oidc:<provider>:sub:<sub>
	//	codehost:id:<number>
	//	kubernetes:serviceaccount:<namespace>/<name>
	//	jwt:sub:<sub>
	Subject string
	// Subjects are the others that bindings and allow lists may name, of which a record has
	// at most 255. Those of e-mail addresses are in lower case, and only there if the address
	// is verified:
	//
	//	oidc:<provider>:{email|domain|group}:<value>
	//	codehost:{email|domain|org|team}:<value>
	//	kubernetes:namespace:<namespace>
	//	jwt:group:<value>, jwt:claim:<name>=<value>
	Subjects []string
	Roles    []string // values of the claim for roles, such as "editor@checkout"

	// Missing says which claims that decide something the provider did not send, or why they
	// could not be had; nil if there are none. It is for logs.
	Missing error

	SID      string            // the session at the provider (the claim sid), or ""
	Metadata map[string]string // for clients; its keys begin with "io.service.auth."
	Expires  time.Time         // when the proof of the identity expires; zero for people
}
