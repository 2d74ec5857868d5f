package cli

import (
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/internal/clock"
)

// argument is an argument in the usage of a command.
var argument = regexp.MustCompile(`<[^>]+>`)

// Arguments checks that the arguments are those in the usage of the command, such as
// "add <flag> [<percentage>...]".
func Arguments(command *cobra.Command, args []string) error {
	usage, _, more := strings.Cut(command.Use, " [")
	names := argument.FindAllString(usage, -1)
	for i, name := range names {
		if i >= len(args) || args[i] == "" {
			return UsageError("missing argument %s: %s", name, command.UseLine())
		}
	}
	if more = more || strings.HasSuffix(usage, "..."); len(args) > len(names) && !more {
		return UsageError("unexpected argument %q: %s", args[len(names)], command.UseLine())
	}
	return nil
}

// NotEmpty returns an error if one of the options is given an empty value, as by a variable that
// is not set. It is for those without which a command grants or changes more, or works elsewhere.
func NotEmpty(command *cobra.Command, options ...string) error {
	for _, name := range options {
		if o := command.Flags().Lookup(name); o != nil && o.Changed && strings.Trim(o.Value.String(), "[]") == "" {
			return UsageError("--%s must not be empty", name)
		}
	}
	return nil
}

// Pairs parses the values of a key=value flag.
func Pairs(flag string, texts []string) (map[string]string, error) {
	values := make(map[string]string, len(texts))
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, UsageError("invalid %s %q: must have the form key=value", flag, text)
		}
		if _, twice := values[key]; twice {
			return nil, UsageError("duplicate key %q in %s", key, flag)
		}
		values[key] = value
	}
	return values, nil
}

// TimeAgo returns the time of an option, or nil if the text is empty. A duration is before now.
func (p *Program) TimeAgo(option, text string) (*timestamppb.Timestamp, error) {
	return p.timeOf(option, text, -1, "how long ago")
}

// TimeAhead is [Program.TimeAgo], but a duration is after now.
func (p *Program) TimeAhead(option, text string) (*timestamppb.Timestamp, error) {
	return p.timeOf(option, text, 1, "in how long")
}

// timeOf returns the time of an option. It is in UTC if the text does not say otherwise.
func (p *Program) timeOf(option, text string, sign time.Duration, what string) (*timestamppb.Timestamp, error) {
	if text == "" {
		return nil, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return timestamppb.New(at), nil
		}
	}
	if d, err := clock.ParseDuration(text); err == nil && d >= 0 {
		return timestamppb.New(p.Now().Add(sign * d).Truncate(time.Second)), nil
	}
	return nil, UsageError("invalid %s %q: must be a time such as 2026-11-20T14:00:00Z or \"2026-11-20 14:00\" in UTC, "+
		"a day such as 2026-11-20, or %s, such as 36h or 7d", option, text, what)
}
