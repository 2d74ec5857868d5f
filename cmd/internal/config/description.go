package config

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed descriptions.yaml
var descriptionFile []byte

// descriptions returns what each key and each section is for. A star stands for a name that
// the operator chose. It is parsed when it is first needed, which a start of the service
// does not.
var descriptions = sync.OnceValue(func() map[string]string {
	var all map[string]string
	if err := yaml.Unmarshal(descriptionFile, &all); err != nil {
		panic(fmt.Sprintf("descriptions.yaml: %v", err)) // found by any test
	}
	return all
})

// doc returns what the key is for.
func (f field) doc() string { return descriptions()[pattern(f.key, f.named)] }

// doc returns what the section is for.
func (s section) doc() string { return descriptions()[pattern(s.key, s.part)] }

// pattern returns the key with a star in place of the part that the operator chose, which
// is -1 for none.
func pattern(key string, part int) string {
	if part < 0 {
		return key
	}
	parts := strings.Split(key, ".")
	parts[part] = "*"
	return strings.Join(parts, ".")
}
