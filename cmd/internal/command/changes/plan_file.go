package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxPlanFile limits a saved plan, in bytes.
const maxPlanFile = 256 << 20

// planFileVersion is the version of the form of a saved plan.
const planFileVersion = 1

// planFile is a saved plan. It has the digests that an apply must match, and not the changes
// themselves: these are in the files.
type planFile struct {
	Version int         `json:"version"`
	Drop    bool        `json:"drop"`
	Plans   []savedPlan `json:"plans"` // in the order in which they are applied
}

// savedPlan is the plan for one namespace.
type savedPlan struct {
	Namespace string                     `json:"namespaceKey"`
	Revision  int64                      `json:"revision"` // when it was planned
	Digest    string                     `json:"digest"`
	Changes   []*guidonv1.ExpectedChange `json:"changes"`
}

// save writes the plans to the file that --out names.
func (c *planCommand) save(plans []*guidonv1.PlanResponse) error {
	file := planFile{Version: planFileVersion, Drop: c.drop, Plans: lists.Map(plans, savedPlanOf)}
	return c.WriteAll(c.saveTo, func(out io.Writer) error {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(file)
	})
}

func savedPlanOf(plan *guidonv1.PlanResponse) savedPlan {
	return savedPlan{
		Namespace: plan.GetNamespaceKey(), Revision: plan.GetRevision(), Digest: plan.GetDigest(),
		Changes: lists.Map(plan.GetChanges(), func(c *guidonv1.PlannedChange) *guidonv1.ExpectedChange {
			return &guidonv1.ExpectedChange{Kind: c.GetKind(), Key: c.GetKey(), Digest: c.GetDigest()}
		}),
	}
}

// load returns the saved plan that --plan names, if it is one of the documents.
func (c *planCommand) load(documents []cli.FileDocument) ([]savedPlan, error) {
	text, err := c.ReadInput(c.saved, maxPlanFile)
	if err != nil {
		return nil, err
	}
	var file planFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: not a saved plan: %w", cli.StreamName(c.saved), err)
	}
	if err := c.matches(&file, documents); err != nil {
		return nil, fmt.Errorf("%s: %w", cli.StreamName(c.saved), err)
	}
	return file.Plans, nil
}

// matches returns an error unless the saved plan is one of the documents.
func (c *planCommand) matches(file *planFile, documents []cli.FileDocument) error {
	if file.Version != planFileVersion {
		return fmt.Errorf("a saved plan of version %d; this program knows version %d", file.Version, planFileVersion)
	}
	if file.Drop != c.drop {
		return fmt.Errorf("planned with --drop=%t, but applied with --drop=%t", file.Drop, c.drop)
	}
	planned := lists.Map(file.Plans, func(plan savedPlan) string { return plan.Namespace })
	given := lists.Map(documents, cli.FileDocument.Key)
	if !slices.Equal(planned, given) {
		return fmt.Errorf("a plan for the namespaces %q, but the files have %q", planned, given)
	}
	return nil
}
