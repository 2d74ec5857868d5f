package settings

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// serverPage is the model of the page about the server.
type serverPage struct{ Facts []fact }

// fact is something about the server, in words.
type fact struct{ Name, Text string }

// info is the part of /meta/info that the page needs.
type info struct {
	Version        string `json:"version"`
	Commit         string `json:"commit"`
	BuildDate      string `json:"buildDate"`
	GoVersion      string `json:"goVersion"`
	OS             string `json:"os"`
	Arch           string `json:"arch"`
	Authentication struct {
		Required bool `json:"required"`
	} `json:"authentication"`
}

// cacheModes are the modes of the cache in words.
var cacheModes = map[string]string{
	"strict": "strict: each response is current", "bounded": "bounded: responses may be as old as cache.max_age",
	"local": "local: this is the only server",
}

// showServer shows information about the server.
func showServer(v *page.Visit) error {
	body, err := page.GetServerInfo.Run(v, &emptypb.Empty{})
	if err != nil {
		return err
	}
	var i info
	if err := json.Unmarshal(body.GetData(), &i); err != nil {
		return err
	}
	var p serverPage
	p.add("Version", i.Version)
	p.add("Commit", i.Commit)
	p.add("Built", i.BuildDate)
	p.add("Platform", i.GoVersion+" on "+i.OS+"/"+i.Arch)
	p.add("Address", v.Address())
	p.add("Authentication", onOff(i.Authentication.Required, "required", "off: anyone who can reach the server can change everything"))
	p.add("Changes", onOff(v.Site.ReadOnly, "refused: the server is read-only", "allowed"))
	p.add("Live updates", onOff(v.Site.Streams, "on", "off: reload pages to see the changes of others"))
	if n := v.Current(); n != nil && v.State.Revision == 0 {
		_, state, err := page.GetNamespace.RunAt(v, &flipt.GetNamespaceRequest{Key: n.GetKey()})
		if err != nil {
			return err
		}
		p.add("Revision of "+page.NamespaceName(n), page.Revision(state.Revision))
	}
	if administers(v) {
		if err := p.addConfiguration(v); err != nil {
			return err
		}
	}
	return show(v, http.StatusOK, serverSection, "", p.main(v))
}

// add adds a fact, if it is known.
func (p *serverPage) add(name, text string) {
	if text != "" {
		p.Facts = append(p.Facts, fact{name, text})
	}
}

// addConfiguration adds the facts that only administrators may read. It has no secrets, and no
// addresses.
func (p *serverPage) addConfiguration(v *page.Visit) error {
	c, err := readConfiguration(v)
	if err != nil {
		return err
	}
	p.add("Database", c.database())
	p.add("Cache", cmp.Or(cacheModes[c.Cache.Mode], c.Cache.Mode))
	tokensOnly := onOff(v.Site.Required,
		"only those of tokens are enforced: anyone who signs in by a provider may do everything", "not enforced")
	p.add("Roles", onOff(c.Authorization.Required, "enforced", tokensOnly))
	p.add("Changes are kept", retention(time.Duration(c.Changes.Retention)))
	return nil
}

// retention returns how long changes are kept, in words.
func retention(d time.Duration) string {
	switch {
	case d <= 0:
		return "for ever"
	case d < 48*time.Hour:
		return "for " + page.Count(int(d.Hours()), "hour")
	}
	return "for " + page.Count(int(d.Hours()/24), "day")
}

func onOff(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
