package code

// golang is the OpenFeature SDK for Go.
func golang(f Flag) string {
	header := ""
	if f.elsewhere() {
		header = ",\n\tofrep.WithHeader(" + textIn(NamespaceHeader) + ", " + textIn(f.Namespace) + ")"
	}
	properties := f.lines(
		func(name, value string) string { return "\t\t" + name + ": " + value + ",\n" },
		func(p Property) string { return member(p, pascal) })
	return `import (
	"os"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

provider := ofrep.NewProvider(` + textIn(f.Address) + `,
	ofrep.WithBearerToken(os.Getenv("` + TokenVariable + `"))` + header + `)
if err := openfeature.SetProviderAndWait(provider); err != nil {
	return err
}

value, err := openfeature.NewDefaultClient().` + f.choose("BooleanValue", "StringValue", "FloatValue", "ObjectValue") + `(ctx,
	` + textIn(f.Key) + `, ` + f.choose("false", textIn(f.Default), "0", "map[string]any{}") + `, // the answer while Guidon cannot be reached
	openfeature.NewEvaluationContext(user.ID, map[string]any{
` + properties + `	}))`
}

// headers returns the headers of a provider as a list in a script.
func (f Flag) headers(token string) string {
	headers := "  headers: [\n    [\"Authorization\", `Bearer ${" + token + "}`],\n"
	if f.elsewhere() {
		headers += "    [" + textIn(NamespaceHeader) + ", " + textIn(f.Namespace) + "],\n"
	}
	return headers + "  ],\n"
}

// scriptProperties returns the properties as members of an object in a script.
func (f Flag) scriptProperties(value func(Property) string) string {
	return f.lines(func(name, value string) string { return "  " + name + ": " + value + ",\n" }, value)
}

func scriptMember(p Property) string { return member(p, camel) }

// node is the OpenFeature SDK for servers on Node.js.
func node(f Flag) string {
	return `import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OpenFeature } from "@openfeature/server-sdk";

await OpenFeature.setProviderAndWait(new OFREPProvider({
  baseUrl: ` + textIn(f.Address) + `,
` + f.headers("process.env."+TokenVariable) + `}));

const value = await OpenFeature.getClient().` + f.scriptMethod() + `(` + textIn(f.Key) + `, ` + f.scriptDefault() + `, { // the answer while Guidon cannot be reached
  targetingKey: user.id,
` + f.scriptProperties(scriptMember) + `});`
}

func (f Flag) scriptMethod() string {
	return f.choose("getBooleanValue", "getStringValue", "getNumberValue", "getObjectValue")
}

func (f Flag) scriptDefault() string { return f.choose("false", textIn(f.Default), "0", "{}") }

// browser is the OpenFeature SDK for browsers. Its token is public, so it comes from the build.
func browser(f Flag) string {
	return `import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature } from "@openfeature/web-sdk";

// A token in a page is public: use one that may only evaluate.
await OpenFeature.setContext({
  targetingKey: user.id,
` + f.scriptProperties(scriptMember) + `});
await OpenFeature.setProviderAndWait(new OFREPWebProvider({
  baseUrl: ` + textIn(f.Address) + `,
` + f.headers("import.meta.env.VITE_"+TokenVariable) + `}));

const value = OpenFeature.getClient().` + f.scriptMethod() + `(` + textIn(f.Key) + `, ` + f.scriptDefault() + `); // the answer while Guidon cannot be reached`
}

// java is the OpenFeature SDK for Java.
func java(f Flag) string {
	header := ""
	if f.elsewhere() {
		header = ",\n        " + textIn(NamespaceHeader) + ", ImmutableList.of(" + textIn(f.Namespace) + ")"
	}
	properties := f.lines(
		func(name, value string) string { return "\n    .add(" + name + ", " + value + ")" },
		func(p Property) string {
			if m := member(p, camel); m != p.Sample {
				return m + "()"
			}
			return javaSample(p.Sample)
		})
	return `import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.openfeature.contrib.providers.ofrep.OfrepProvider;
import dev.openfeature.contrib.providers.ofrep.OfrepProviderOptions;
import dev.openfeature.sdk.*;

var options = OfrepProviderOptions.builder()
    .baseUrl(` + textIn(f.Address) + `)
    .headers(ImmutableMap.of(
        "Authorization", ImmutableList.of("Bearer " + System.getenv("` + TokenVariable + `"))` + header + `))
    .build();
OpenFeatureAPI.getInstance().setProviderAndWait(OfrepProvider.constructProvider(options));

var context = new MutableContext(user.id())` + properties + `;
var value = OpenFeatureAPI.getInstance().getClient().` + f.choose("getBooleanValue", "getStringValue", "getDoubleValue", "getObjectValue") + `(
    ` + textIn(f.Key) + `, ` + f.choose("false", textIn(f.Default), "0.0", "new Value()") + `, context); // the answer while Guidon cannot be reached`
}

// javaSample returns a sample as code: numbers are of one type there.
func javaSample(sample string) string {
	if c := sample[0]; c >= '0' && c <= '9' || c == '-' {
		return sample + "d"
	}
	return sample
}

// python is the OpenFeature SDK for Python.
func python(f Flag) string {
	header := ""
	if f.elsewhere() {
		header = "\n        " + textIn(NamespaceHeader) + ": " + textIn(f.Namespace) + ","
	}
	properties := f.lines(
		func(name, value string) string { return "        " + name + ": " + value + ",\n" },
		func(p Property) string { return pythonSample(member(p, snake)) })
	return `import os

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

api.set_provider(OFREPProvider(
    ` + textIn(f.Address) + `,
    headers_factory=lambda: {
        "Authorization": f"Bearer {os.environ['` + TokenVariable + `']}",` + header + `
    },
))

value = api.get_client().` + f.choose("get_boolean_value", "get_string_value", "get_float_value", "get_object_value") + `(
    ` + textIn(f.Key) + `,
    ` + f.choose("False", textIn(f.Default), "0.0", "{}") + `,  # the answer while Guidon cannot be reached
    EvaluationContext(user.id, {
` + properties + `    }),
)`
}

func pythonSample(value string) string {
	switch value {
	case "true":
		return "True"
	case "false":
		return "False"
	}
	return value
}

// fliptClient is the client of Flipt v1, whose contexts have texts only.
func fliptClient(f Flag) string {
	method, value := "variant", "variantKey"
	if f.Boolean {
		method, value = "boolean", "enabled"
	}
	properties := f.lines(
		func(name, value string) string { return "    " + name + ": String(" + value + "),\n" }, scriptMember)
	return `import flipt from "@flipt-io/flipt";

const client = new flipt.FliptClient({
  url: ` + textIn(f.Address) + `,
  authenticationStrategy: new flipt.ClientTokenAuthentication(process.env.` + TokenVariable + `),
});

const answer = await client.evaluation.` + method + `({
  namespaceKey: ` + textIn(f.Namespace) + `,
  flagKey: ` + textIn(f.Key) + `,
  entityId: user.id,
  context: { // texts only
` + properties + `  },
});
const value = answer.` + value + `;`
}
