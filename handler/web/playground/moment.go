package playground

import (
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// state is the state of the namespace that is asked about.
type state struct {
	Reference string // as operations take it in place of the key
	Revision  int64
}

// stateAt returns the state of the namespace at the moment, or the problem if it is invalid.
func stateAt(v *page.Visit, moment string) (state, string, error) {
	now := state{Reference: v.Key(), Revision: v.State.Revision}
	if moment == "" {
		return now, "", nil
	}
	text, problem := parseMoment(v, moment)
	if problem != "" {
		return now, problem, nil
	}
	then := state{Reference: v.Key() + "@" + text}
	_, at, err := page.GetNamespace.RunAt(v, &flipt.GetNamespaceRequest{Key: then.Reference})
	if err == nil {
		then.Revision = at.Revision
		return then, "", nil
	}
	switch guidon.CodeOf(err) {
	case guidon.NotFound, guidon.InvalidArgument:
		return now, page.Capital(guidon.PublicMessage(err)) + ".", nil
	}
	return now, "", err
}

// parseMoment returns the moment as references have it, or the problem if it is invalid.
func parseMoment(v *page.Visit, text string) (string, string) {
	const rule = "Write a revision, such as 12, or a time, such as 2026-11-20 14:03."
	if number := strings.TrimPrefix(text, "@"); strings.Trim(number, "0123456789") == "" {
		revision, err := strconv.ParseInt(number, 10, 64)
		switch {
		case err != nil || revision <= 0:
			return "", rule
		case revision > v.State.Revision:
			return "", "There is no revision " + number + " yet. The latest is " + page.Revision(v.State.Revision) + "."
		}
		return number, ""
	}
	at, ok := page.ParseTime(text, v.Location())
	if !ok {
		return "", rule
	}
	reference := at.UTC().Format(time.RFC3339Nano)
	if _, err := service.ParseReference(v.Key() + "@" + reference); err != nil {
		return "", rule
	}
	return reference, ""
}
