package code

import (
	"net/url"
	"strings"

	"github.com/guidonhq/guidon/internal/lists"
)

// Curl returns the command that evaluates a flag by OFREP. body is the request in JSON. The
// token is that of the environment.
func Curl(address, namespace, flag, body string) string {
	var b strings.Builder
	b.WriteString("curl " + ShellQuote(address+"/ofrep/v1/evaluate/flags/"+url.PathEscape(flag)) + " \\\n")
	b.WriteString("  -H \"Authorization: Bearer $" + TokenVariable + "\" \\\n")
	if namespace != defaultNamespace {
		b.WriteString("  -H " + ShellQuote(NamespaceHeader+": "+namespace) + " \\\n")
	}
	b.WriteString("  -d " + ShellQuote(body))
	return b.String()
}

// sampleEntity is the entity that commands ask about.
const sampleEntity = "user-1"

// members returns the samples of the properties as members of a JSON object.
func (f Flag) members() string {
	return strings.Join(lists.Map(f.Properties, func(p Property) string { return textIn(p.Name) + ": " + p.Sample }), ", ")
}

// curl asks by OFREP.
func curl(f Flag) string {
	context := `"targetingKey": ` + textIn(sampleEntity)
	if members := f.members(); members != "" {
		context += ", " + members
	}
	return Curl(f.Address, f.Namespace, f.Key, `{"context": {`+context+`}}`)
}

// commandLine asks by the command line.
func commandLine(f Flag) string {
	var b strings.Builder
	b.WriteString("# " + TokenVariable + " has the token, unless \"guidon login\" was used.\nguidon evaluate")
	flag := func(name, value string) { b.WriteString(" \\\n  " + name + " " + ShellQuote(value)) }
	flag("--address", f.Address)
	if f.elsewhere() {
		flag("--namespace", f.Namespace)
	}
	flag("--entity-id", sampleEntity)
	if members := f.members(); members != "" {
		flag("--context", "{"+members+"}")
	}
	b.WriteString(" \\\n  -- " + ShellQuote(f.Key))
	return b.String()
}
