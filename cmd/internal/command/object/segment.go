package object

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const segmentHelp = `Work with single segments of a namespace. A segment is the entities whose context meets
its constraints: all of them, or any.`

var segmentTexts = map[string]text{
	"list": {`List the segments of a namespace. --query selects those that contain all of its words in
key, name, description or a constraint.` + orEarlier,
		`  guidon segment list
  guidon segment list -n shop --query country -o json`},
	"get": {`Show a segment with its constraints. As JSON and YAML it has the fields of import files,
and the times of its creation and last change.` + orEarlier,
		`  guidon segment get beta-users
  guidon segment get beta-users -o json | jq '.constraints[].property'`},
	"create": {`Create a segment. A constraint is "property operator value", with the type of the value in
front unless it is a string: string, number, boolean, datetime, entity, version, pattern,
list or address.

  country eq PT              country isoneof ["PT","ES"]
  number:seats gte 10        boolean:beta true
  version:app gte 2.4        datetime:signup gt 2026-01-01T00:00:00Z
  pattern:email eq (?i)@example\.com$
  list:roles anyof ["admin","owner"]
  address:ip isoneof ["192.0.2.0/24","2001:db8::1"]
  entity:entityId isoneof ["u-1","u-2"]

"not" in front negates it: "not country eq SE" also holds without a country. For a property
called "not", write "string:not eq x".

Everybody is in a segment without constraints.`,
		`  guidon segment create beta-users --constraint 'boolean:beta true'
  guidon segment create iberia --match any --constraint 'country eq PT' --constraint 'country eq ES'`},
	"update": {`Change fields of a segment. What is not given stays as it is. "guidon segment edit" changes
constraints.

If somebody changes the segment at the same time, nothing is changed.`,
		`  guidon segment update iberia --name "Spain and Portugal" --match any`},
	"delete": {`Delete segments, all of them or none. It asks for confirmation. A segment that a flag refers
to cannot be deleted; "guidon segment usage" shows where it is used. "guidon undo" brings
deleted segments back.`,
		`  guidon segment delete beta-users --yes`},
}

func segments(p *cli.Program, explain func(t *cli.Task) cli.Verb) *object {
	o := &object{Task: &cli.Task{Program: p}, kind: "segment", group: "flags"}
	o.short, o.long, o.aliases = "List, create, change and delete segments", segmentHelp, []string{"segments"}
	k := &keyed{object: o, texts: segmentTexts, complete: p.CompleteSegments, fields: segmentLines}
	k.list = func(ctx context.Context, c client.Client) (cli.Output, error) {
		all, err := cli.AllSegments(ctx, c, &guidonv1.ListSegmentSummariesRequest{
			NamespaceKey: k.Namespace, Query: k.query, Sort: segmentOrders[k.sort], Descending: k.sort == newestFirst,
		}, k.limit)
		return listedSegments(all), err
	}
	k.read = func(ctx context.Context, c client.Client, key string) (content, error) {
		found, err := cli.Call[guidonv1.SegmentContent](ctx, c, "/guidon.v1.EditService/GetSegmentContent",
			&guidonv1.GetSegmentContentRequest{NamespaceKey: k.Namespace, Key: key})
		d := &guidonv1.Document{Segments: []*guidonv1.DocumentSegment{found.GetSegment()}}
		return content{document: d, created: found.GetCreatedAt(), changed: found.GetUpdatedAt()}, err
	}
	k.put = func(d *guidonv1.Document, since *int64) *guidonv1.PatchRequest {
		return &guidonv1.PatchRequest{Segments: []*guidonv1.SegmentEdit{{Put: segmentOf(d), UnlessChangedSince: since}}}
	}
	k.merge = func(ctx context.Context, c client.Client, d *guidonv1.Document, since int64) (
		*guidonv1.Document, *guidonv1.MergeDetails, error,
	) {
		m, err := cli.Call[guidonv1.SegmentMerge](ctx, c, "/guidon.v1.EditService/MergeSegment", &guidonv1.MergeSegmentRequest{
			NamespaceKey: k.Namespace, Key: segmentOf(d).GetKey(), Since: since, Segment: segmentOf(d), PageWords: true,
		})
		return &guidonv1.Document{Segments: []*guidonv1.DocumentSegment{m.GetSegment()}}, m.GetDetails(), err
	}
	k.without = func(d *guidonv1.Document, keys []string) {
		d.Segments = slices.DeleteFunc(d.Segments, func(s *guidonv1.DocumentSegment) bool { return slices.Contains(keys, s.GetKey()) })
	}
	k.remove = func(edits *guidonv1.PatchRequest, key string) {
		edits.Segments = append(edits.Segments, &guidonv1.SegmentEdit{Delete: key})
	}
	o.verbs = append(k.usualVerbs(), createSegment(k), update(k, segmentFields(), segmentOf), segmentUsage(k), explain(o.Task))
	return o
}

// segmentOrders are the values of --sort.
var segmentOrders = map[string]guidonv1.SegmentSort{
	"": guidonv1.SegmentSort_KEY_SEGMENT_SORT, "key": guidonv1.SegmentSort_KEY_SEGMENT_SORT,
	"name": guidonv1.SegmentSort_NAME_SEGMENT_SORT, newestFirst: guidonv1.SegmentSort_CHANGED_SEGMENT_SORT,
}

func segmentOf(d *guidonv1.Document) *guidonv1.DocumentSegment { return d.GetSegments()[0] }

func listedSegments(all []*guidonv1.SegmentSummary) cli.Output {
	const header = "KEY\tNAME\tFLAGS\tCHANGED\tCONSTRAINTS"
	return cli.List(all, (*guidonv1.SegmentSummary).GetKey, header, func(s *guidonv1.SegmentSummary) []any {
		return []any{s.GetKey(), s.GetName(), s.GetFlagCount(), cli.When(s.GetUpdatedAt()), s.GetConditions()}
	})
}

// segmentFields are the fields of a segment that the command line sets.
func segmentFields() fields[*guidonv1.DocumentSegment] {
	type segment = *guidonv1.DocumentSegment
	return fields[segment]{
		textField("name", "the name for people (default: the key)", func(s segment, name string) { s.Name = name }),
		textField("description", "what the segment is for", func(s segment, text string) { s.Description = text }),
		checkedField("match", "all", "how many constraints must match: all or any", func(s segment, word string) error {
			match, ok := matchTypes[word]
			s.MatchType = match
			if !ok {
				return cli.UsageError("invalid --match %q: must be all or any", word)
			}
			return nil
		}).among("all", "any"),
	}
}

// matchTypes are the values of --match.
var matchTypes = map[string]flipt.MatchType{
	"all": flipt.MatchType_ALL_MATCH_TYPE, "any": flipt.MatchType_ANY_MATCH_TYPE,
}

func createSegment(k *keyed) cli.Verb {
	fields := segmentFields()
	var constraints []string
	parse := func(key string) (*guidonv1.Document, error) {
		segment := &guidonv1.DocumentSegment{Key: key}
		if err := fields.set(segment); err != nil {
			return nil, err
		}
		if segment.GetName() == "" {
			segment.Name = key
		}
		for _, text := range constraints {
			constraint, err := parseConstraint(text)
			if err != nil {
				return nil, cli.UsageError("invalid --constraint %s: %w", guidon.Quote(text), err)
			}
			segment.Constraints = append(segment.Constraints, constraint)
		}
		return &guidonv1.Document{Segments: []*guidonv1.DocumentSegment{segment}}, nil
	}
	return k.create(parse, func(command *cobra.Command) {
		fields.flags(command)
		command.Flags().StringArrayVar(&constraints, "constraint", nil,
			"a `constraint`, such as 'country eq PT'; may be repeated")
		_ = command.RegisterFlagCompletionFunc("constraint", completeConstraint(k.CompleteProperties(""))) // the flag exists
	})
}

func segmentLines(field cli.Field, found content) {
	s := segmentOf(found.document)
	field("KEY", s.GetKey())
	field("NAME", s.GetName())
	field("DESCRIPTION", cli.OrDash(s.GetDescription()))
	field("MATCH", matchWord(s.GetMatchType()))
	field("CREATED", cli.When(found.created))
	field("CHANGED", cli.When(found.changed))
	for i, c := range s.GetConstraints() {
		field(fmt.Sprintf("CONSTRAINT %d", i+1), constraintLine(c))
	}
	if len(s.GetConstraints()) == 0 {
		field("CONSTRAINTS", "none: everybody is in the segment")
	}
}

// matchWord returns whether all constraints must match, or any.
func matchWord(match flipt.MatchType) string {
	if match == flipt.MatchType_ANY_MATCH_TYPE {
		return "any"
	}
	return "all"
}
