package flag

import (
	"net/http"
	"net/url"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// isOff reports whether the button of the head turns the flag on.
func (s *subject) isOff() bool {
	if s.boolean() {
		return s.switchedOff()
	}
	return !s.flag.GetEnabled()
}

// switchWords returns what the button of the head does.
func (s *subject) switchWords() string {
	if s.isOff() {
		return "Turn on"
	}
	return "Turn off"
}

func (s *subject) switchVerb() string {
	if s.isOff() {
		return "turn-on"
	}
	return "turn-off"
}

// question is a page that asks before something is done.
type question struct {
	*subject
	problems  part.Problems
	form      url.Values
	elsewhere []elsewhere
	state     part.State
	effect    []string
}

// ask shows a page with a question.
func (q *question) ask(status int) error {
	q.v.Reply(status, q.plainPage(q.switchWords(), switchMain(q)))
	return nil
}

// getSwitch asks whether to turn the flag off or on.
func (p pages) getSwitch(v *page.Visit) error {
	s, err := p.readToEdit(v)
	if err != nil {
		return err
	}
	return (&question{subject: s, form: url.Values{}, effect: s.switchEffect()}).ask(http.StatusOK)
}

// readToEdit reads the flag for a page that only those who may edit it can use.
func (p pages) readToEdit(v *page.Visit) (*subject, error) {
	s, err := p.read(v)
	if err == nil && !s.mayEdit() {
		return nil, &page.Error{Heading: "You may not change this flag", Text: s.readOnlyReason(), Err: guidon.Errorf(guidon.PermissionDenied, "permission denied")}
	}
	return s, err
}

// switchEffect returns what turning the flag off or on changes for people.
func (s *subject) switchEffect() []string {
	f := proto.CloneOf(s.flag)
	switch {
	case !s.boolean():
		f.Enabled = !f.GetEnabled()
	case s.switchedOff():
		f.Rollouts = f.GetRollouts()[1:]
	default:
		off := &guidonv1.DocumentRollout{Rule: &guidonv1.DocumentRollout_Threshold{Threshold: &guidonv1.DocumentRolloutThreshold{Percentage: 100}}}
		f.Rollouts = append([]*guidonv1.DocumentRollout{off}, f.GetRollouts()...)
	}
	return s.effectOf(f)
}

// postSwitch turns the flag off or on.
func (p pages) postSwitch(v *page.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	s, err := p.readToEdit(v)
	if err != nil {
		return err
	}
	q := &question{subject: s, form: form, effect: s.switchEffect()}
	if !q.confirmed() {
		return q.ask(http.StatusUnprocessableEntity)
	}
	if page.ActionOf(form).Verb != s.switchVerb() { // somebody else was faster
		q.problems.Add("question", "It was turned on or off in the meantime. Look at it again.")
		return q.ask(http.StatusConflict)
	}
	since, err := strconv.ParseInt(form.Get("revision"), 10, 64)
	if err != nil {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field revision: must be the revision that the form began with")
	}
	response, err := s.turn(since, form.Get("message"))
	switch code := guidon.CodeOf(err); {
	case err == nil:
		s.saved(response)
		return nil
	case code == guidon.FailedPrecondition:
		q.problems.Add("question", actorOf(s.last)+" changed this flag in the meantime. Look at what this does now, and confirm it again.")
		return q.ask(http.StatusConflict)
	case code == guidon.InvalidArgument:
		q.problems.Add("question", guidon.PublicMessage(err))
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

// actorOf returns who made a change, which may not be known.
func actorOf(c *guidonv1.Change) string {
	if c == nil {
		return "Somebody"
	}
	return page.ActorOf(c.GetActor()).Name
}

// turn turns the flag off or on, unless it has changed since a revision.
func (s *subject) turn(since int64, message string) (*guidonv1.EditResponse, error) {
	request := &guidonv1.SwitchFlagRequest{NamespaceKey: s.v.Key(), Key: s.key, UnlessChangedSince: &since, Message: message}
	switch {
	case s.boolean() && s.switchedOff():
		return turnFlagOn.Run(s.v, request)
	case s.boolean():
		return turnFlagOff.Run(s.v, request)
	}
	f := proto.CloneOf(s.flag)
	f.Enabled = !f.GetEnabled()
	return replaceFlag.Run(s.v, &guidonv1.ReplaceFlagRequest{NamespaceKey: s.v.Key(), Key: s.key, Flag: f, UnlessChangedSince: &since, Message: message})
}
