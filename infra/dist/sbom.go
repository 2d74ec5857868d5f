package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
	"github.com/package-url/packageurl-go"
)

// materialsVersion is the newest version of CycloneDX that most tools read.
const materialsVersion = cyclonedx.SpecVersion1_6

// materials returns the bill of materials of a program, in the JSON format of CycloneDX.
func (o origin) materials(name string, p *program, dependencies []dependency) ([]byte, error) {
	sum := sha256.Sum256(p.content)
	digest := hex.EncodeToString(sum[:])
	main := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, Name: name, Version: o.version,
		BOMRef: moduleURL(p.info.Path, o.version), PackageURL: moduleURL(p.info.Path, o.version),
		Licenses:   licenseChoices([]string{"Apache-2.0"}),
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: digest}},
		Properties: &[]cyclonedx.Property{{Name: "platform", Value: p.platform.String()}, {Name: "commit", Value: o.commit}},
	}
	bom := cyclonedx.NewBOM()
	// It names this document, so it follows from the content.
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(homepage+"#"+digest)).URN()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: o.time.Format(time.RFC3339), Component: &main}
	components, references := make([]cyclonedx.Component, 0, len(dependencies)), make([]string, 0, len(dependencies))
	for _, d := range dependencies {
		url := moduleURL(d.path, d.version)
		components = append(components, cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, Name: d.path, Version: d.version,
			BOMRef: url, PackageURL: url, Licenses: licenseChoices(d.licenses),
		})
		references = append(references, url)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &references}}
	var text bytes.Buffer
	encoder := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(bom, materialsVersion); err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	return text.Bytes(), nil
}

// moduleURL is the package URL of a Go module or package.
func moduleURL(module, version string) string {
	namespace, name := path.Split(module)
	return packageurl.NewPackageURL(packageurl.TypeGolang, strings.TrimSuffix(namespace, "/"), name, version, nil, "").ToString()
}

func licenseChoices(names []string) *cyclonedx.Licenses {
	var choices cyclonedx.Licenses
	for _, name := range names {
		choices = append(choices, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: name}})
	}
	return &choices
}
