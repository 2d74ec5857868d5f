package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/document/unleash"
	"github.com/guidonhq/guidon/integration/harness"
)

// TestUnleashClient: for users that distinguish features of all kinds, the algorithm by which an
// import verifies itself gives the answers of Unleash's published client.
func TestUnleashClient(t *testing.T) {
	harness.InstallNode(t, "unleash")
	text, err := os.ReadFile("../../document/unleash/testdata/features.json")
	if err != nil {
		t.Fatal(err)
	}
	environments, err := unleash.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	e := environments[0]
	type evaluation struct {
		Feature    string            `json:"feature"`
		Properties map[string]string `json:"properties"`
		At         time.Time         `json:"at"`
	}
	var in struct {
		Features json.RawMessage `json:"features"`
		Segments json.RawMessage `json:"segments"`
		Cases    []evaluation    `json:"cases"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	var want []unleash.Answer
	for i := range e.Features {
		f := &e.Features[i]
		for u := range e.Users(f, 10_000, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)) {
			in.Cases = append(in.Cases, evaluation{f.Name, u.Properties, u.At})
			want = append(want, e.Evaluate(f, u))
		}
	}
	var got []unleash.Answer
	runNode(t, in, &got)
	if len(got) != len(want) {
		t.Fatalf("got %d answers, want %d", len(got), len(want))
	}
	different := 0
	for i := range got {
		if got[i] == want[i] {
			continue
		}
		if different++; different <= 10 {
			t.Errorf("%+v: the client answers %+v, Evaluate %+v", in.Cases[i], got[i], want[i])
		}
	}
	t.Logf("%d evaluations, %d different", len(got), different)
}

// runNode runs the script with the input and decodes its output.
func runNode(t *testing.T, in, out any) {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "evaluate.mjs")
	var messages bytes.Buffer
	command.Dir, command.Stdin, command.Stderr = "unleash", bytes.NewReader(input), &messages
	output, err := command.Output()
	if err == nil {
		err = json.Unmarshal(output, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, messages.String())
	}
}

// specificationCase is a case of Unleash's client specification.
type specificationCase struct {
	Description    string
	ToggleName     string
	Context        map[string]any
	ExpectedResult json.RawMessage
}

func (c *specificationCase) user(t *testing.T) *unleash.User {
	u := &unleash.User{Properties: map[string]string{}, At: time.Now()}
	for name, value := range c.Context {
		switch value := value.(type) {
		case string:
			u.Properties[name] = value
		case map[string]any:
			for name, value := range value {
				if text, ok := value.(string); ok {
					u.Properties[name] = text
				}
			}
		}
	}
	if now, has := u.Properties["currentTime"]; has {
		var err error
		if u.At, err = time.Parse(time.RFC3339, now); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// notImported are the parts of the specification whose features an import leaves out, and those of
// another protocol.
var notImported = []string{
	"05-gradual-rollout-random-strategy", "17-dependent-features", "19-delta-api-hydration", "20-delta-api-events",
	"21-regex-constraint-operators", "22-cidr-constraint-operators",
}

// TestUnleashSpecification: the algorithm gives the answers that Unleash specifies for its clients.
func TestUnleashSpecification(t *testing.T) {
	harness.InstallNode(t, "unleash")
	paths, err := filepath.Glob("unleash/node_modules/@unleash/client-specification/specifications/[0-9]*.json")
	if err != nil || len(paths) < 15 {
		t.Fatalf("got %d specifications, %v", len(paths), err)
	}
	tried := 0
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if !slices.Contains(notImported, name) {
			t.Run(name, func(t *testing.T) { tried += specified(t, path) })
		}
	}
	if tried < 150 {
		t.Errorf("tried only %d cases", tried)
	}
}

// specified checks the cases of the file, and returns how many there are.
func specified(t *testing.T, path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		State               json.RawMessage
		Tests, VariantTests []specificationCase
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	environments, err := unleash.Read(all.State)
	if err != nil {
		t.Fatal(err)
	}
	e := environments[0]
	evaluate := func(c *specificationCase) (answer unleash.Answer) {
		for i := range e.Features {
			if e.Features[i].Name == c.ToggleName {
				answer = e.Evaluate(&e.Features[i], c.user(t))
			}
		}
		return answer
	}
	for _, c := range all.Tests {
		if got := evaluate(&c); string(c.ExpectedResult) != map[bool]string{true: "true", false: "false"}[got.Enabled] {
			t.Errorf("%s: got %+v, want %s", c.Description, got, c.ExpectedResult)
		}
	}
	for _, c := range all.VariantTests {
		var want struct {
			Name           string
			Enabled        bool
			FeatureEnabled bool `json:"feature_enabled"`
		}
		if err := json.Unmarshal(c.ExpectedResult, &want); err != nil {
			t.Fatal(err)
		}
		if !want.Enabled {
			want.Name = ""
		}
		if got := evaluate(&c); got != (unleash.Answer{Enabled: want.FeatureEnabled, Variant: want.Name}) {
			t.Errorf("%s: got %+v, want %+v", c.Description, got, want)
		}
	}
	return len(all.Tests) + len(all.VariantTests)
}
