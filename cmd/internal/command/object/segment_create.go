package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/suggest"
)

const segmentCreateHelp = `Create a segment. A constraint is "property operator value", with the type of the value in
front unless it is a string: string, number, boolean, datetime or entity.

  country eq PT              country isoneof ["PT","ES"]
  number:seats gte 10        boolean:beta true
  datetime:signup gt 2026-01-01T00:00:00Z
  entity:entityId isoneof ["u-1","u-2"]

Everybody is in a segment without constraints.`

const segmentCreateExample = `  guidon segment create beta-users --constraint 'boolean:beta true'
  guidon segment create iberia --match any --constraint 'country eq PT' --constraint 'country eq ES'`

// comparisons are the types of constraints, by the word for each.
var comparisons = map[string]flipt.ComparisonType{
	"string":   flipt.ComparisonType_STRING_COMPARISON_TYPE,
	"number":   flipt.ComparisonType_NUMBER_COMPARISON_TYPE,
	"boolean":  flipt.ComparisonType_BOOLEAN_COMPARISON_TYPE,
	"datetime": flipt.ComparisonType_DATETIME_COMPARISON_TYPE,
	"entity":   flipt.ComparisonType_ENTITY_ID_COMPARISON_TYPE,
}

// comparisonWord returns the word for the type of a constraint.
func comparisonWord(comparison flipt.ComparisonType) string {
	for word, c := range comparisons {
		if c == comparison {
			return word
		}
	}
	return "unknown"
}

// segmentFields are the fields of a segment that the command line sets.
type segmentFields struct{ name, description, match string }

func (f *segmentFields) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "the name for people (default: the key)")
	flags.StringVar(&f.description, "description", "", "what the segment is for")
	flags.StringVar(&f.match, "match", "all", "how many constraints must match: all or any")
	_ = command.RegisterFlagCompletionFunc("match", cli.CompleteWords("all", "any")) // the flag exists
}

// set sets the fields of the segment that are given.
func (f *segmentFields) set(segment *guidonv1.DocumentSegment, given []string) error {
	for _, name := range given {
		switch name {
		case "name":
			segment.Name = f.name
		case "description":
			segment.Description = f.description
		case "match":
			types := map[string]flipt.MatchType{"all": flipt.MatchType_ALL_MATCH_TYPE, "any": flipt.MatchType_ANY_MATCH_TYPE}
			match, ok := types[f.match]
			if !ok {
				return cli.UsageError("invalid --match %q: must be all or any", f.match)
			}
			segment.MatchType = match
		}
	}
	return nil
}

func segmentCreateCommand(p *cli.Program) *cobra.Command {
	o := &objects{cli.Task{Program: p}}
	var fields segmentFields
	var constraints []string
	command := &cobra.Command{
		Use:     "create <segment>",
		Short:   "Create a segment",
		Long:    segmentCreateHelp,
		Example: segmentCreateExample,
		Args:    cli.OneArgument("segment"),
		RunE: p.Action(func(ctx context.Context, args []string) error {
			segment := &guidonv1.DocumentSegment{Key: args[0]}
			if err := fields.set(segment, []string{"name", "description", "match"}); err != nil {
				return err
			}
			if segment.GetName() == "" {
				segment.Name = segment.GetKey()
			}
			for _, text := range constraints {
				constraint, err := parseConstraint(text)
				if err != nil {
					return err
				}
				segment.Constraints = append(segment.Constraints, constraint)
			}
			return o.Writing(ctx, func(service client.Client) error { return o.createSegment(ctx, service, segment) })
		}),
	}
	o.WriteFlags(command, "the key")
	fields.flags(command)
	command.Flags().StringArrayVar(&constraints, "constraint", nil, "a `constraint`, such as 'country eq PT'; may be repeated")
	return command
}

func (o *objects) createSegment(ctx context.Context, service client.Client, segment *guidonv1.DocumentSegment) error {
	since, err := o.revision(ctx, service)
	if err != nil {
		return err
	}
	if _, err := o.segment(ctx, service, segment.GetKey()); !errors.Is(err, guidon.NotFound) {
		return existing("segment", o.Namespace, segment.GetKey(), err)
	}
	_, err = o.patch(ctx, service, &guidonv1.PatchRequest{Segments: []*guidonv1.SegmentEdit{{Put: segment, UnlessChangedSince: since}}})
	if err != nil {
		return err
	}
	return o.showSegment(ctx, service, segment.GetKey(), "created")
}

// showSegment prints the action on the segment or, for programs, the segment.
func (o *objects) showSegment(ctx context.Context, service client.Client, key, done string) error {
	content, err := o.segment(ctx, service, key)
	if err != nil {
		return err
	}
	s := o.shownSegment(content)
	s.Table = func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s segment %s in %s\n", done, key, o.Place())
		return err
	}
	return o.Show(o.Output, s)
}

// parseConstraint returns the constraint that the text has. The service checks its operator
// and its value.
func parseConstraint(text string) (*guidonv1.DocumentConstraint, error) {
	constraint := &guidonv1.DocumentConstraint{Type: flipt.ComparisonType_STRING_COMPARISON_TYPE}
	rest := strings.TrimSpace(text)
	word, after, typed := strings.Cut(rest, ":")
	if typed = typed && comparisons[word] != flipt.ComparisonType_UNKNOWN_COMPARISON_TYPE; typed {
		constraint.Type, rest = comparisons[word], after
	}
	property, rest, _ := strings.Cut(rest, " ")
	operator, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if property == "" || operator == "" {
		return nil, cli.UsageError("invalid --constraint %s: must be a property, an operator and a value, such as 'country eq PT'",
			guidon.Quote(text))
	}
	if meant := meantBy(property); !typed && meant != "" {
		return nil, cli.UsageError("invalid --constraint %s: did you mean %s? For a property of that name, write string:%s",
			guidon.Quote(text), meant, guidon.Shorten(property, maxMeant))
	}
	constraint.Property, constraint.Operator, constraint.Value = property, operator, strings.TrimSpace(value)
	return constraint, nil
}

// meantBy returns the probable meaning of a property without a type that is not meant as a
// string: the entity id, or a type that is misspelled. It returns "" for any other.
func meantBy(property string) string {
	if guidon.MeansEntity(property) {
		return "entity:" + guidon.EntityProperty
	}
	word, rest, _ := strings.Cut(property, ":")
	if word == property || rest == "" {
		return ""
	}
	similar := suggest.Closest(strings.ToLower(word), slices.Sorted(maps.Keys(comparisons)))
	if similar == "" {
		return ""
	}
	return guidon.Shorten(similar+":"+rest, maxMeant)
}

// maxMeant is how much of a suggested constraint an error has, in bytes.
const maxMeant = 100
