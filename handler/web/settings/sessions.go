package settings

import (
	"net/http"
	"net/url"
	"slices"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxRows limits the rows of a table.
const maxRows = 200

// sessionsPage is the model of the visitor's sessions.
type sessionsPage struct {
	Sessions []*auth.Authentication // the newest first, at most maxRows
	More     int                    // how many more there are
	Own      string                 // the id of the session of this browser
	Ended    bool
}

// showSessions lists the visitor's sessions.
func showSessions(v *page.Visit) error {
	p := sessionsPage{Ended: v.Query().Get("ended") != ""}
	if isPerson(v) {
		list, err := page.ListSessions.Run(v, &emptypb.Empty{})
		if err != nil {
			return err
		}
		p.Own, p.Sessions = v.Visitor.Authentication.ID, list.GetAuthentications()
		slices.Reverse(p.Sessions)
		if p.More = len(p.Sessions) - maxRows; p.More > 0 {
			p.Sessions = p.Sessions[:maxRows]
		}
	}
	return show(v, http.StatusOK, sessionsSection, "", p.main(v))
}

// others returns whether there is a session besides that of this browser.
func (p sessionsPage) others() bool {
	return p.More > 0 || slices.ContainsFunc(p.Sessions, func(s *auth.Authentication) bool { return s.GetId() != p.Own })
}

// endSessions ends a session of the visitor, or all but that of this browser.
func endSessions(v *page.Visit, form url.Values) error {
	var err error
	switch action := page.ActionOf(form); {
	case !isPerson(v):
		return guidon.Errorf(guidon.InvalidArgument, "there are no sessions, because authentication is off")
	case action.Verb == "end-others":
		err = endOthers(v)
	case action.Verb == "end" && action.Text(0) != "":
		err = endSession(v, action.Text(0))
	default:
		err = guidon.Errorf(guidon.InvalidArgument, "the form does not say which session to end")
	}
	if err != nil {
		return err
	}
	return v.Redirect(page.Below("settings", "sessions") + "?ended=1")
}

// endOthers ends all sessions but that of this browser.
func endOthers(v *page.Visit) error {
	list, err := page.ListSessions.Run(v, &emptypb.Empty{})
	if err != nil {
		return err
	}
	for _, s := range list.GetAuthentications() {
		if s.GetId() == v.Visitor.Authentication.ID {
			continue
		}
		if err := endSession(v, s.GetId()); err != nil {
			return err
		}
	}
	return nil
}

// endSession ends a session. It is no error if it has ended already.
func endSession(v *page.Visit, id string) error {
	_, err := page.DeleteSession.Run(v, &guidonv1.DeleteSessionRequest{Id: id})
	if guidon.CodeOf(err) == guidon.NotFound {
		return nil
	}
	return err
}
