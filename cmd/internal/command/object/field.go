package object

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// field is a field of an object of type M that an option sets.
type field[M any] struct {
	option   string
	add      func(flags *pflag.FlagSet) // adds the option
	set      func(object M) error       // sets the field to the value of the option
	complete cobra.CompletionFunc       // offers values, or nil
}

// fields are the fields of a kind of object.
type fields[M any] []field[M]

func textField[M any](option, usage string, set func(object M, value string)) field[M] {
	return checkedField(option, "", usage, func(object M, value string) error {
		set(object, value)
		return nil
	})
}

// checkedField returns a field that does not take every text. Without the option it is unset.
func checkedField[M any](option, unset, usage string, set func(object M, value string) error) field[M] {
	value := new(string)
	return field[M]{
		option: option,
		add:    func(flags *pflag.FlagSet) { flags.StringVar(value, option, unset, usage) },
		set:    func(object M) error { return set(object, *value) },
	}
}

func boolField[M any](option, usage string, set func(object M, value bool)) field[M] {
	value := new(bool)
	return field[M]{
		option: option,
		add:    func(flags *pflag.FlagSet) { flags.BoolVar(value, option, false, usage) },
		set: func(object M) error {
			set(object, *value)
			return nil
		},
	}
}

// among returns the field with values that the shell offers.
func (f field[M]) among(words ...string) field[M] {
	f.complete = cli.CompleteWords(words...)
	return f
}

// flags adds the options of the fields to a command.
func (fs fields[M]) flags(command *cobra.Command) {
	for _, f := range fs {
		f.add(command.Flags())
		if f.complete != nil {
			_ = command.RegisterFlagCompletionFunc(f.option, f.complete) // the flag exists
		}
	}
}

// set sets all fields.
func (fs fields[M]) set(object M) error {
	for _, f := range fs {
		if err := f.set(object); err != nil {
			return err
		}
	}
	return nil
}

// given returns the fields whose options are given, of which there must be one.
func (fs fields[M]) given(flags *pflag.FlagSet) (fields[M], error) {
	given := slices.DeleteFunc(slices.Clone(fs), func(f field[M]) bool { return !flags.Changed(f.option) })
	return given, oneGiven(flags, lists.Map(fs, func(f field[M]) string { return f.option })...)
}

// oneGiven returns an error unless one of the options is given.
func oneGiven(flags *pflag.FlagSet, options ...string) error {
	if slices.ContainsFunc(options, flags.Changed) {
		return nil
	}
	options = lists.Map(options, func(option string) string { return "--" + option })
	return cli.UsageError("nothing to change: give %s", cli.JoinWords(options, "or"))
}

// setDefaultVariant makes the variant with the key the default, or none if the key is empty.
func setDefaultVariant(flag *guidonv1.DocumentFlag, key string) error {
	found := key == ""
	for _, v := range flag.GetVariants() {
		v.Default = v.GetKey() == key
		found = found || v.GetDefault()
	}
	if !found {
		return cli.UsageError("invalid --default-variant %q: flag %q has no such variant", key, flag.GetKey())
	}
	return nil
}

// setMetadata sets the values of the texts, which are key=value, in the metadata of the flag.
func setMetadata(flag *guidonv1.DocumentFlag, texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	values, err := cli.Pairs("--metadata", texts)
	if err != nil {
		return err
	}
	metadata := make(map[string]json.RawMessage)
	if flag.GetMetadata() != "" {
		if err := json.Unmarshal([]byte(flag.GetMetadata()), &metadata); err != nil {
			return fmt.Errorf("the flag has malformed metadata: %w", err)
		}
	}
	for key, value := range values {
		switch {
		case value == "":
			delete(metadata, key)
		case json.Valid([]byte(value)):
			metadata[key] = json.RawMessage(value)
		default:
			if metadata[key], err = json.Marshal(value); err != nil {
				return err
			}
		}
	}
	flag.Metadata = ""
	if len(metadata) > 0 {
		text, err := json.Marshal(metadata)
		flag.Metadata = string(text)
		return err
	}
	return nil
}
