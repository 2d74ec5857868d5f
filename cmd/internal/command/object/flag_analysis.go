package object

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

const flagReachHelp = `Print what the rules of a flag can do, whatever the entities and contexts:
which are never reached and why, what their percentages become in the buckets of the
engine, and which variants nobody can get.

Only what is certain counts as never reached.` + orEarlier

const flagReachExample = `  guidon flag reach new-checkout
  guidon flag reach new-checkout -n shop@412
  guidon flag reach new-checkout -o json | jq .unservedVariants`

func flagReach(o *object, complete cobra.CompletionFunc) cli.Verb {
	return cli.Verb{
		Use: "reach <flag>", Short: "Show what a flag can never do", Long: flagReachHelp, Example: flagReachExample,
		Names: "the variants that nobody can get", Complete: cli.InOrder(complete),
		Read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			found, err := cli.Call[guidonv1.FlagReach](ctx, service, "/guidon.v1.AnalysisService/GetFlagReach",
				&guidonv1.GetFlagReachRequest{NamespaceKey: o.Namespace, Key: args[0]})
			return cli.Output{
				Data: cli.DataOf(found), Names: found.GetUnservedVariants(),
				Table: cli.Text("%s", reachText(o.Namespace+"/"+args[0], found)),
			}, err
		},
	}
}

// reachText returns the reach of the flag as a tree.
func reachText(flag string, r *guidonv1.FlagReach) string {
	text := cli.Printable(flag) + " is a " + cli.FlagKind(r.GetType()) + " flag"
	if r.GetDisabled() {
		text += "; it is disabled, so no rule is reached. Once it is enabled:"
	}
	steps := lists.Map(r.GetSteps(), func(s *guidonv1.StepReach) cli.Node { return stepReach(r, s) })
	text += "\n" + cli.Tree(append(steps, defaultReach(r)))
	if len(r.GetUnservedVariants()) > 0 {
		text += "Variants that nobody can get: " + cli.Printable(strings.Join(r.GetUnservedVariants(), ", ")) + "\n"
	}
	if r.GetTruncated() {
		text += "More may never be reached: the flag has too many rules to compare all of them.\n"
	}
	return text
}

func stepReach(r *guidonv1.FlagReach, s *guidonv1.StepReach) cli.Node {
	line := fmt.Sprintf("rule %d", s.GetIndex()+1)
	reached := s.GetCause() == guidonv1.ReachCause_REACHED_REACH_CAUSE
	switch {
	case s.GetCause() == guidonv1.ReachCause_NOT_YET_REACH_CAUSE, s.GetCause() == guidonv1.ReachCause_ENDED_REACH_CAUSE:
		line += " is not in force: " + cli.Printable(s.GetWhy())
	case !reached:
		line += " is never reached: " + cli.Printable(s.GetWhy())
	case s.GetFails():
		line += " fails: a constraint has an unknown type"
	case s.GetBuckets() < bucketsBefore(r, s):
		line += fmt.Sprintf(" decides for %s at most: earlier thresholds have the others", shareOf(r, s.GetBuckets()))
	}
	return cli.Node{Line: cli.Mark(reached) + " " + line, Below: lists.Map(shareLines(r, s), cli.Leaf)}
}

// bucketsBefore returns for how many buckets the rule would decide without thresholds
// before it.
func bucketsBefore(r *guidonv1.FlagReach, s *guidonv1.StepReach) int32 {
	if r.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE && len(s.GetShares()) > 0 {
		return s.GetShares()[0].GetEnd()
	}
	return r.GetBuckets()
}

// shareLines returns one line for each share, and one for those without any.
func shareLines(r *guidonv1.FlagReach, s *guidonv1.StepReach) []string {
	lines := lists.Map(s.GetShares(), shareLine)
	if s.GetUnassignedBuckets() > 0 {
		lines = append(lines, fmt.Sprintf("no variant: %s, with the default variant or none",
			shareOf(r, s.GetUnassignedBuckets())))
	}
	return lines
}

func shareLine(s *guidonv1.ShareReach) string {
	line := cli.Percent(s.GetGivenPercentage())
	if s.GetRounded() {
		line += fmt.Sprintf(", configured as %s", cli.Percent(s.GetPercentage()))
	}
	switch s.GetCause() {
	case guidonv1.ShareCause_LOST_VARIANT_SHARE_CAUSE:
		return "a variant that does not exist: " + line
	case guidonv1.ShareCause_BELOW_ONE_BUCKET_SHARE_CAUSE:
		line += ": less than one bucket"
	case guidonv1.ShareCause_BEYOND_THE_END_SHARE_CAUSE:
		line += ": those before it have all buckets"
	}
	if s.GetVariantKey() == "" {
		return "threshold: " + line
	}
	return cli.Printable(s.GetVariantKey()) + ": " + line
}

func defaultReach(r *guidonv1.FlagReach) cli.Node {
	d := r.GetDefault()
	reached := d.GetCause() == guidonv1.ReachCause_REACHED_REACH_CAUSE
	line := "default (the default variant, or none)"
	switch {
	case !reached:
		line = "default is never reached: " + cli.Printable(d.GetWhy())
	case r.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE:
		line = "the default value"
	}
	return cli.Leaf(cli.Mark(reached) + " " + line)
}

// shareOf returns the share of the buckets in percent.
func shareOf(r *guidonv1.FlagReach, buckets int32) string {
	return cli.Percent(float32(buckets) * 100 / float32(r.GetBuckets()))
}

const flagTimelineHelp = `Print when rules of a flag begin and end to hold, and when ramps change their
percentages, from now on: up to 20 lines. As JSON, there are up to 1,000.

The namespace may be an earlier state, or one in the future, such as
shop@2026-12-01T09:00:00Z.`

func flagTimeline(o *object, complete cobra.CompletionFunc) cli.Verb {
	return cli.Verb{
		Use: "timeline <flag>", Short: "Show when rules of a flag begin, end and change their shares", Long: flagTimelineHelp,
		Example: "  guidon flag timeline new-checkout", Names: "the instants", Complete: cli.InOrder(complete),
		Read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			found, err := cli.Call[guidonv1.FlagTimeline](ctx, service, "/guidon.v1.AnalysisService/GetFlagTimeline",
				&guidonv1.GetFlagTimelineRequest{NamespaceKey: o.Namespace, Key: args[0]})
			return cli.Output{
				Data: cli.DataOf(found),
				Names: lists.Map(found.GetBoundaries(), func(b *guidonv1.FlagBoundary) string {
					return b.GetAt().AsTime().Format("2006-01-02T15:04:05Z")
				}),
				Table: cli.Line("%s", strings.Join(timelineLines(found), "\n")),
			}, err
		},
	}
}

// maxTimeline limits the lines of a timeline.
const maxTimeline = 20

func timelineLines(timeline *guidonv1.FlagTimeline) (lines []string) {
	for _, b := range timeline.GetBoundaries() {
		for _, r := range b.GetRules() {
			lines = append(lines, analysis.InstantWords(b.GetAt().AsTime())+": "+cli.Printable(r.GetText()))
		}
	}
	if len(lines) == 0 {
		lines = []string{"No rule begins, ends or changes its share from now on."}
	}
	if last := len(lines) - 1; len(lines) > maxTimeline {
		lines = append(lines[:maxTimeline-1], fmt.Sprintf("and %d more, then", len(lines)-maxTimeline), lines[last])
	}
	if timeline.GetTruncated() {
		lines = append(lines, "and more after that")
	}
	return lines
}

const flagUsageHelp = `Print the flags that require a flag, as a whole or in rules. While they do, it cannot be
deleted.` + orEarlier

const flagUsageExample = `  guidon flag usage new-api
  guidon flag usage new-api -n shop@412
  guidon flag usage new-api -o json | jq '.uses[].flagKey'`

func flagUsage(o *object, complete cobra.CompletionFunc) cli.Verb {
	return cli.Verb{
		Use: "usage <flag>", Short: "List the flags that require a flag", Long: flagUsageHelp, Example: flagUsageExample,
		Names: "the keys of the flags", Complete: cli.InOrder(complete),
		Read: func(ctx context.Context, service client.Client, args []string) (cli.Output, error) {
			found, err := o.flagUses(ctx, service, args[0])
			return cli.Output{
				Data: cli.DataOf(found), Names: lists.Map(found.GetUses(), (*guidonv1.FlagUse).GetFlagKey),
				Table: cli.Text("%s is required by %s\n%s", cli.Printable(o.Namespace+"/"+args[0]), countFlags(found.GetTotalCount()),
					cli.Tree(lists.Map(found.GetUses(), flagUse))),
			}, err
		},
	}
}

// flagUses returns the flags of all pages.
func (o *object) flagUses(ctx context.Context, service client.Client, key string) (*guidonv1.FlagUseList, error) {
	all := new(guidonv1.FlagUseList)
	err := cli.Pages(func(token string) (string, error) {
		page, err := cli.Call[guidonv1.FlagUseList](ctx, service, "/guidon.v1.AnalysisService/ListFlagUses",
			&guidonv1.ListFlagUsesRequest{NamespaceKey: o.Namespace, Key: key, PageToken: token})
		all.Uses, all.TotalCount = append(all.Uses, page.GetUses()...), page.GetTotalCount()
		return page.GetNextPageToken(), err
	})
	return all, err
}

func flagUse(use *guidonv1.FlagUse) cli.Node {
	var parts []string
	if use.GetWhole() {
		parts = append(parts, "the flag itself")
	}
	for _, index := range use.GetRules() {
		parts = append(parts, fmt.Sprintf("rule %d", index+1))
	}
	return cli.Leaf(usingFlag(use.GetFlagKey(), use.GetFlagName()) + ": " + strings.Join(parts, ", "))
}

// usingFlag names a flag that uses a flag or a segment.
func usingFlag(key, name string) string { return cli.Printable(key) + " (" + cli.Printable(name) + ")" }
