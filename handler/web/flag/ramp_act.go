package flag

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// rampAct is what can be done with a ramp.
type rampAct struct {
	action             guidonv1.RampAction
	verb, button, text string
}

// rampActs are the acts in the order of their buttons.
var rampActs = []rampAct{
	{guidonv1.RampAction_CONFIRM_RAMP_ACTION, "Confirm", "Confirm", "It goes on until it must be confirmed again."},
	{guidonv1.RampAction_PAUSE_RAMP_ACTION, "Pause", "Pause", "The share stays at the percentage of this moment until you resume it."},
	{guidonv1.RampAction_RESUME_RAMP_ACTION, "Resume", "Resume", "The share goes on from where it is, later by the pause."},
	{
		guidonv1.RampAction_REVERSE_RAMP_ACTION, "Reverse", "Reverse",
		"The share goes back to its first percentage, as fast as it came. Those who joined last leave first.",
	},
	{guidonv1.RampAction_STOP_RAMP_ACTION, "Stop", "Stop here", "The share keeps the percentage of this moment. The ramp ends."},
	{guidonv1.RampAction_FINISH_RAMP_ACTION, "Finish", "Finish", "The share gets its last percentage immediately. The ramp ends."},
}

// fits reports whether the act has a button while the ramp does what it does now.
func (a rampAct) fits(r *guidon.Ramp, now time.Time) bool {
	phase, err := r.Phase(now), error(nil)
	switch a.action {
	case guidonv1.RampAction_CONFIRM_RAMP_ACTION:
		return !r.Deadline().IsZero() && (phase == guidon.RampRunning || phase == guidon.RampLapsed)
	case guidonv1.RampAction_PAUSE_RAMP_ACTION:
		_, err = r.Pause(now)
	case guidonv1.RampAction_RESUME_RAMP_ACTION:
		_, err = r.Resume(now)
	case guidonv1.RampAction_REVERSE_RAMP_ACTION:
		_, err = r.Reverse(now)
	case guidonv1.RampAction_STOP_RAMP_ACTION:
		return phase != guidon.RampEnded
	}
	return err == nil
}

// actsOn returns what can be done with the ramp of a rule: nothing if the visitor may not, or the
// draft has changes.
func (l *ladder) actsOn(s rule) []rampAct {
	if !l.mayEdit() || len(l.unsaved) > 0 {
		return nil
	}
	r := s.Ramp.ramp()
	return slices.DeleteFunc(slices.Clone(rampActs), func(a rampAct) bool { return !a.fits(r, l.v.Now()) })
}

// address returns the address of the page that asks before an act on the ramp of a rule.
func (a rampAct) address(s *subject, index int) string {
	query := url.Values{"rule": {strconv.Itoa(index + 1)}, "action": {a.verb}}
	return s.address("ramp") + "?" + query.Encode()
}

// getRamp asks whether to change a ramp.
func getRamp(v *page.Visit) error {
	q, _, err := readRampAct(v, url.Values{})
	if err != nil {
		return err
	}
	return q.ask(http.StatusOK)
}

// postRamp changes a ramp.
func postRamp(v *page.Visit, form url.Values) error {
	q, request, err := readRampAct(v, form)
	switch {
	case err != nil:
		return err
	case len(q.problems) > 0:
		return q.ask(http.StatusConflict)
	case !q.confirmed():
		return q.ask(http.StatusUnprocessableEntity)
	}
	return q.store(func(since int64, message string) (*guidonv1.EditResponse, error) {
		request.UnlessChangedSince, request.Message = &since, message
		return page.ControlRamp.Run(v, request)
	})
}

// readRampAct reads the act of the query, and its effect on people.
func readRampAct(v *page.Visit, form url.Values) (*question, *guidonv1.ControlRampRequest, error) {
	s, err := readToEdit(v)
	if err != nil {
		return nil, nil, err
	}
	number, err := strconv.ParseInt(v.Query().Get("rule"), 10, 32)
	i := slices.IndexFunc(rampActs, func(a rampAct) bool { return a.verb == v.Query().Get("action") })
	if err != nil || number < 1 || i < 0 {
		return nil, nil, guidon.Errorf(guidon.InvalidArgument, "invalid field rule or action: must name a rule and what to do with its ramp")
	}
	a := rampActs[i]
	q := &question{
		subject: s, form: form,
		path: a.address(s, int(number)-1), heading: a.verb + " the ramp of rule " + strconv.FormatInt(number, 10) + "?",
		text: a.text, verb: a.verb, button: a.button,
	}
	request := &guidonv1.ControlRampRequest{NamespaceKey: v.Key(), Key: s.key, Rule: int32(number), Action: a.action}
	q.effect, err = q.preview(&guidonv1.PreviewFlagRequest{Ramp: a.action, Rule: request.GetRule()})
	switch guidon.CodeOf(err) {
	case guidon.FailedPrecondition, guidon.InvalidArgument: // it ended, or somebody changed it
		q.problems.Add("question", page.Capital(guidon.PublicMessage(err))+".")
		err = nil
	}
	return q, request, err
}
