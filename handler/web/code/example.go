package code

import (
	"cmp"
	"embed"
	"strings"
)

// The example code of SDKs, with names in «» for what depends on the flag. A line with «header» is left out for the
// default namespace; one with «property» is there for each property.
//
//go:embed examples
var examples embed.FS

// example is the code in a file of [examples].
type example struct {
	file     string
	methods  [4]string // that evaluate, by [Kind]
	defaults [4]string // values in the code, by Kind; "" is that of the flag
	value    func(Property) string
}

var (
	scriptMethods  = [4]string{"getBooleanValue", "getStringValue", "getNumberValue", "getObjectValue"}
	scriptDefaults = [4]string{"false", "", "0", "{}"}
)

var (
	golang = example{
		"go.txt", [4]string{"BooleanValue", "StringValue", "FloatValue", "ObjectValue"}, [4]string{"false", "", "0", "map[string]any{}"},
		func(p Property) string { return member(p, pascal) },
	}
	node    = example{"node.txt", scriptMethods, scriptDefaults, scriptMember}
	browser = example{"browser.txt", scriptMethods, scriptDefaults, scriptMember}
	java    = example{
		"java.txt", [4]string{"getBooleanValue", "getStringValue", "getDoubleValue", "getObjectValue"},
		[4]string{"false", "", "0.0", "new Value()"}, javaMember,
	}
	python = example{
		"python.txt", [4]string{"get_boolean_value", "get_string_value", "get_float_value", "get_object_value"},
		[4]string{"False", "", "0.0", "{}"}, pythonMember,
	}
	fliptClient = example{file: "flipt.txt", value: scriptMember} // of Flipt v1, whose contexts have texts only
)

// write returns the example for a flag.
func (e example) write(f Flag) string {
	text, err := examples.ReadFile("examples/" + e.file)
	if err != nil {
		panic(err) // they are in the program
	}
	kind, field := "variant", "variantKey"
	if f.Boolean {
		kind, field = "boolean", "enabled"
	}
	ofFlag := strings.NewReplacer(
		"«address»", textIn(f.Address), "«header»", textIn(NamespaceHeader), "«namespace»", textIn(f.Namespace), "«token»", TokenVariable,
		"«key»", textIn(f.Key), "«method»", e.methods[f.Kind], "«default»", cmp.Or(e.defaults[f.Kind], textIn(f.Default)),
		"«type»", kind, "«field»", field,
	)
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.Contains(line, "«header»") && !f.elsewhere():
		case strings.Contains(line, "«property»"):
			for _, p := range f.Properties {
				b.WriteString(strings.NewReplacer("«property»", textIn(p.Name), "«value»", e.value(p)).Replace(line))
			}
		default:
			b.WriteString(ofFlag.Replace(line))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func scriptMember(p Property) string { return member(p, camel) }

// javaMember has methods for members, and one type of numbers.
func javaMember(p Property) string {
	m := member(p, camel)
	if m != p.Sample {
		return m + "()"
	}
	if c := m[0]; c >= '0' && c <= '9' || c == '-' {
		return m + "d"
	}
	return m
}

func pythonMember(p Property) string {
	switch m := member(p, snake); m {
	case "true":
		return "True"
	case "false":
		return "False"
	default:
		return m
	}
}
