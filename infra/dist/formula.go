package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"text/template"
)

//go:embed formula.rb.tmpl
var formulaText string

var formulaTemplate = template.Must(template.New("guidon.rb").Option("missingkey=error").Parse(formulaText))

// formula returns the Homebrew formula that installs the archives of a release.
func (o origin) formula(archives map[platform]file) (file, error) {
	data := map[string]string{
		"homepage": homepage, "number": o.number(), "version": o.version, "summary": "Self-hosted feature-flag service",
	}
	for _, p := range every {
		if a, ok := archives[p]; ok {
			sum := sha256.Sum256(a.content)
			data[p.os+"_"+p.arch] = a.name
			data[p.os+"_"+p.arch+"_sum"] = hex.EncodeToString(sum[:])
		}
	}
	var text bytes.Buffer
	if err := formulaTemplate.Execute(&text, data); err != nil {
		return file{}, fmt.Errorf("formula: %w", err)
	}
	return file{name: "guidon.rb", content: text.Bytes()}, nil
}
