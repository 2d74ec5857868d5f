package markup

import (
	"fmt"
	"strings"

	"github.com/a-h/templ"
)

// Classes returns the value of the attribute class: names, and those with a condition if it
// holds.
func Classes(classes ...any) string {
	names := make([]string, 0, len(classes))
	for _, class := range classes {
		switch c := class.(type) {
		case string:
			names = append(names, c)
		case templ.KeyValue[string, bool]:
			if c.Value {
				names = append(names, c.Key)
			}
		default:
			panic(fmt.Sprintf("markup: a class is %T", class))
		}
	}
	return strings.Join(names, " ")
}
