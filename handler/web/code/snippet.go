package code

import (
	"strings"
)

// Flag is the flag that the example code evaluates.
type Flag struct {
	Address    string // of the service, without a slash at the end
	Namespace  string
	Key        string
	Kind       Kind
	Default    string // for Kind Text: the value that the code uses while the service is unavailable
	Boolean    bool   // a boolean flag; a variant flag may also have values of KindBoolean
	Properties []Property
}

// Kind is the kind of values that a flag has in OpenFeature.
type Kind int

// The kinds.
const (
	Boolean Kind = iota
	Text
	Number
	Object
)

// Language is how the flag is asked in.
type Language struct {
	ID, Name string
	Write    func(Flag) string
}

// Languages are all of them. The first one is the default.
var Languages = []Language{
	{"go", "OpenFeature · Go", golang.write},
	{"node", "Node.js", node.write},
	{"java", "Java", java.write},
	{"python", "Python", python.write},
	{"browser", "Browser", browser.write},
	{"flipt", "Flipt SDK", fliptClient.write},
	{"curl", "curl", curl},
	{"guidon", "guidon", commandLine},
}

// Find returns the language with the id, or the default.
func Find(id string) Language {
	for _, l := range Languages {
		if l.ID == id {
			return l
		}
	}
	return Languages[0]
}

// elsewhere reports whether the namespace must be named.
func (f Flag) elsewhere() bool { return f.Namespace != defaultNamespace }

// member returns the expression that reads the property of a user, or the sample if its name is not one for
// code.
func member(p Property, convert func(words []string) string) string {
	words := strings.FieldsFunc(p.Name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	name := convert(words)
	if !isIdentifier(name) {
		return p.Sample
	}
	return "user." + name
}

// reserved are words that are no names in one of the languages.
const reserved = " and as assert async await break case catch class const continue def default del do elif else except extends final finally for from global goto if import in interface is lambda long new not or package pass private public raise return static super switch this throw try while with yield None True False "

func isIdentifier(name string) bool {
	if name == "" || len(name) > 60 || strings.Contains(reserved, " "+name+" ") {
		return false
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' && i > 0
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// pascal, camel and snake are the ways to write names.
func pascal(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func camel(words []string) string {
	name := pascal(words)
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

func snake(words []string) string { return strings.ToLower(strings.Join(words, "_")) }
