package flag

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// What the page that asks before a flag is turned off or on can do. The last one enables for
// everyone a flag that was not turned off, so that there is nothing to restore.
const (
	verbOff        = "turn-off"
	verbOn         = "turn-on"
	verbOnEveryone = "turn-on-everyone"
)

// switchVerb returns the action of the switch of the head on a flag whose own state it is.
func switchVerb(state part.State) string {
	if state == part.Off {
		return verbOn
	}
	return verbOff
}

// question is a page that asks for a confirmation.
type question struct {
	*subject
	path                        string // to which the answer is sent
	heading, text, verb, button string
	fatal                       bool
	problems                    part.Problems
	form                        url.Values
	keep                        []string // the names of other namespaces with such a flag
	effect                      []string
}

// ask shows the page of the question.
func (q *question) ask(status int) error {
	return q.v.Reply(status, q.plainPage(q.button, questionMain(q)))
}

// getSwitch asks whether to turn the flag off or on.
func getSwitch(_ *page.Visit, s *subject) error {
	q := &question{subject: s, form: url.Values{}}
	if err := q.readSwitch(); err != nil {
		return err
	}
	return q.ask(http.StatusOK)
}

// readSwitch reads whether the flag can be turned off or on, and the effect on people.
func (q *question) readSwitch() error {
	f, err := q.summary()
	if err != nil {
		return err
	}
	if f == nil {
		return q.missing(guidon.FlagNotFound(q.v.Key(), q.key))
	}
	q.own = page.OwnStateOf(f.GetState(), f.OwnState)
	if q.verb = switchVerb(q.own); q.verb == verbOn && !f.GetTurnedOff() {
		q.verb = verbOnEveryone
	}
	q.path, q.heading, q.text, q.button, q.fatal = q.address("turn-off"), q.switchQuestion(), q.switchText(), q.switchButton(), q.verb == verbOff
	q.effect, err = q.preview(&guidonv1.PreviewFlagRequest{TurnOn: new(q.verb != verbOff)})
	if guidon.CodeOf(err) == guidon.InvalidArgument {
		q.problems.Add("question", "Its rules give Off to everyone, whatever everyone else gets. Change or remove these rules.")
	}
	return nil
}

// readToEdit reads the flag for a page that only its editors can use.
func readToEdit(v *page.Visit) (*subject, error) {
	s, err := read(v)
	if err == nil && !s.mayEdit() {
		return nil, &page.Error{
			Heading: "You may not change this flag", Text: s.readOnlyReason(),
			Err: guidon.Errorf(guidon.PermissionDenied, "permission denied"),
		}
	}
	return s, err
}

// postSwitch turns the flag off or on.
func postSwitch(v *page.Visit, form url.Values) error {
	s, err := readToEdit(v)
	if err != nil {
		return err
	}
	q := &question{subject: s, form: form}
	if err := q.readSwitch(); err != nil {
		return err
	}
	switch verb := page.ActionOf(form).Verb; {
	case verb == verbOn && q.verb == verbOnEveryone: // by the switch of the head, which does not ask
		return q.ask(http.StatusOK)
	case len(q.problems) > 0, !q.confirmed():
		return q.ask(http.StatusUnprocessableEntity)
	case verb != q.verb: // another user was faster
		q.problems.Add("question", "It was turned on or off in the meantime. Look at it again.")
		return q.ask(http.StatusConflict)
	}
	return q.store(q.turn)
}

// store changes the flag, unless it has changed since the revision that the form began with.
func (q *question) store(run func(since int64, message string) (*guidonv1.EditResponse, error)) error {
	since, err := strconv.ParseInt(q.form.Get("revision"), 10, 64)
	if err != nil {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field revision: must be the revision that the form began with")
	}
	response, err := run(since, q.form.Get("message"))
	switch code := guidon.CodeOf(err); {
	case err == nil:
		return q.saved(response)
	case code == guidon.FailedPrecondition:
		q.problems.Add("question", actorOf(q.last)+" changed this flag in the meantime. Look at what this does now, and confirm it again.")
		return q.ask(http.StatusConflict)
	case code == guidon.InvalidArgument:
		q.problems.Add("question", page.Sentence(guidon.PublicMessage(err)))
		return q.ask(http.StatusUnprocessableEntity)
	}
	return err
}

// confirmed reports whether the key of the namespace was typed, if that is needed.
func (q *question) confirmed() bool {
	if !q.asks || q.form.Get("namespace") == q.v.Key() {
		return true
	}
	q.problems.Add("namespace", "Type the key of the namespace: "+q.v.Key()+".")
	return false
}

// actorOf returns the actor of a change, which may not be known.
func actorOf(c *guidonv1.Change) string {
	if c == nil {
		return "Somebody"
	}
	return page.ActorOf(c.GetActor()).Name
}

// turn turns the flag off or on, unless it has changed since a revision.
func (q *question) turn(since int64, message string) (*guidonv1.EditResponse, error) {
	request := &guidonv1.SwitchFlagRequest{NamespaceKey: q.v.Key(), Key: q.key, UnlessChangedSince: &since, Message: message}
	if q.verb == verbOff {
		return page.TurnFlagOff.Run(q.v, request)
	}
	request.Everyone = q.verb == verbOnEveryone
	return page.TurnFlagOn.Run(q.v, request)
}

// switchQuestion returns the heading of the page that asks before a flag is turned off or on.
func (q *question) switchQuestion() string {
	switch {
	case q.verb == verbOff:
		return "Turn off “" + q.name() + "” for everyone?"
	case q.verb == verbOnEveryone && q.boolean():
		return "Turn on “" + q.name() + "” for everyone?"
	}
	return "Turn on “" + q.name() + "”?"
}

// switchText describes the effect of the answer on the flag.
func (q *question) switchText() string {
	boolean := q.boolean()
	switch {
	case q.verb == verbOff && boolean:
		return "This adds a first rule that gives Off to everyone, so that no other rule is reached. The other rules stay as they are: Turn on removes this one again."
	case q.verb == verbOff:
		return "Everyone gets " + newDraft(q.flag).outcomeName(defaultVariant(q.flag)) +
			", whatever the rules say. The rules stay as they are: with Turn on, they decide again."
	case q.verb == verbOn && boolean:
		return "This removes the rule that turns it off for everyone. All other rules are as they were."
	case q.verb == verbOn:
		return "The rules decide again, as before it was turned off."
	case boolean:
		return "It has not been turned off, so there is nothing to restore. This gives On to everyone whom no rule matches."
	}
	return "It has not been turned off, so there is nothing to restore. Its rules will decide who gets which variant."
}

// switchButton returns the text of the button.
func (q *question) switchButton() string {
	if q.verb == verbOnEveryone && q.boolean() {
		return "Turn on for everyone"
	}
	return q.own.Switch()
}
