package part

import (
	"bytes"
	"context"

	"github.com/a-h/templ"
)

// Render returns the markup of a component, which collects it in memory and so cannot fail.
func Render(c templ.Component) []byte {
	var markup bytes.Buffer
	if err := c.Render(context.Background(), &markup); err != nil {
		panic(err)
	}
	return markup.Bytes()
}
