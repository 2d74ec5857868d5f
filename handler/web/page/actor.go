package page

import (
	"cmp"
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Actor is the author of a change, for people.
type Actor struct {
	ID    string
	Name  string // never empty
	Token bool   // Name is that of a static token
}

// ActorOf returns the actor of a change.
func ActorOf(a *guidonv1.Actor) Actor {
	actor := Actor{ID: a.GetId(), Token: a.GetMethod() == service.MethodToken.String()}
	actor.Name = cmp.Or(Printable(a.GetName(), maxName), nameOfActor(a.GetId()))
	return actor
}

// Anonymous is the name of whoever needed no credentials.
const Anonymous = "Anonymous"

// nameOfActor returns a name for an actor that has only an id.
func nameOfActor(id string) string {
	if id == change.Anonymous.ID {
		return Anonymous
	}
	kind, rest, _ := strings.Cut(id, ":")
	switch rest = Printable(rest, maxName); {
	case kind == "cli" && rest != "":
		return rest + " (command line)"
	case kind == "system":
		return "Guidon"
	}
	return cmp.Or(Printable(id, maxName), "Unknown")
}

// String returns the actor in words, such as "Mira" or "Token ci".
func (a Actor) String() string {
	if a.Token {
		return "Token " + a.Name
	}
	return a.Name
}

// ActorID returns the id that changes of the visitor have.
func (v Visitor) ActorID() string {
	if v.Authentication == nil {
		return change.Anonymous.ID
	}
	return v.Authentication.Actor().ID
}
