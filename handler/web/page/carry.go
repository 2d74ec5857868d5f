package page

import (
	"net/http"
	"net/url"
	"strings"
)

// carried begins the names of the fields of a form that waits for what another page makes.
// They are hidden fields of the form of that page.
const carried = "back."

// Carry returns the carried fields of a form or, if it has none, its fields as carried ones.
func Carry(form url.Values) url.Values {
	kept, fresh := url.Values{}, url.Values{}
	for name, values := range form {
		if strings.HasPrefix(name, carried) {
			kept[name] = values
		} else if name != "do" {
			fresh[carried+name] = values
		}
	}
	if len(kept) > 0 {
		return kept
	}
	return fresh
}

// Uncarry makes the carried fields those of the form.
func Uncarry(form url.Values) {
	kept := Carry(form)
	clear(form)
	for name, values := range kept {
		form[strings.TrimPrefix(name, carried)] = values
	}
}

// Return makes the browser send the form to a path below the public path, whose page takes its
// carried fields (307). It returns nil.
func (v *Visit) Return(path string) error {
	v.Header().Set("Location", v.Site.Path(path))
	v.Exchange.WriteHeader(http.StatusTemporaryRedirect)
	return nil
}
