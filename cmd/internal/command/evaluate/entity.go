package evaluate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// flagOfEntities checks that a flag is the only argument: entities are given as options.
func flagOfEntities(command *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.UsageError("unexpected argument %q: only one flag is allowed; name an entity with --entity-id", args[1])
	}
	return cli.Arguments(command, args)
}

// contextInput is the context of an entity, as the command line gives it.
type contextInput struct {
	*cli.Program
	texts []string
	file  string
}

func (c *contextInput) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVarP(&c.texts, "context", "c", nil,
		"a `key=value` for constraints to match, or a JSON object with values of any kind; may be repeated")
	_ = command.RegisterFlagCompletionFunc("context", c.CompleteProperties("=")) // the flag exists
	flags.StringVar(&c.file, "context-file", "", "`file` with a JSON object of values, to which --context is added; - is the standard input")
}

// given reports whether there is a context.
func (c *contextInput) given() bool { return len(c.texts) > 0 || c.file != "" }

// read returns the context.
func (c *contextInput) read() (map[string]string, error) {
	values := make(map[string]string)
	if c.file != "" {
		text, err := c.ReadInput(c.file, maxInput)
		if err != nil {
			return nil, err
		}
		if err := addContext(values, text); err != nil {
			return nil, fmt.Errorf("%s: %w", cli.StreamName(c.file), err)
		}
	}
	var texts []string
	for _, text := range c.texts {
		if !strings.HasPrefix(text, "{") {
			texts = append(texts, text)
			continue
		}
		if err := addContext(values, []byte(text)); err != nil {
			return nil, cli.UsageError("invalid --context: %w", err)
		}
	}
	given, err := cli.Pairs("--context", texts)
	if err != nil {
		return nil, fmt.Errorf("%w; to connect to the server of a context, name that with --address", err)
	}
	maps.Copy(values, given)
	return values, nil
}

// entityInput is the entity that a flag is evaluated for, as the command line gives it.
type entityInput struct {
	id      string
	context contextInput
	values  map[string]string // of the context, when it is read
}

func (e *entityInput) flags(command *cobra.Command) {
	command.Flags().StringVarP(&e.id, "entity-id", "e", "", "`id` of the entity (default: a random one)")
	e.context.flags(command)
}

// given reports whether an entity is given.
func (e *entityInput) given() bool { return e.id != "" || e.context.given() }

// read sets the id and the values of the entity.
func (e *entityInput) read(*cobra.Command) (err error) {
	e.id = cmp.Or(e.id, service.NewID())
	e.values, err = e.context.read()
	return err
}

// entitiesInput is entities that a flag is evaluated for, as the command line gives them.
type entitiesInput struct {
	ids     []string
	context contextInput // of all of them
	file    string
}

func (e *entitiesInput) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVarP(&e.ids, "entity-id", "e", nil, "`id` of an entity (default: a random one); may be repeated")
	e.context.flags(command)
	flags.StringVar(&e.file, "entities", "", "`file` with many entities; - is the standard input")
	command.MarkFlagsMutuallyExclusive("entity-id", "entities")
}

// many reports whether the input is a list of entities, even if that has only one.
func (e *entitiesInput) many() bool { return len(e.ids) > 1 || e.file != "" }

// read returns the entities.
func (e *entitiesInput) read() ([]*guidonv1.ExplainEntity, error) {
	if err := cli.CheckStreams(e.file, e.context.file); err != nil {
		return nil, err
	}
	shared, err := e.context.read()
	if err != nil {
		return nil, err
	}
	if e.file != "" {
		entities, err := readEntities(e.context.Program, e.file)
		for _, entity := range entities {
			own := entity.GetContext()
			entity.Context = maps.Clone(shared)
			maps.Copy(entity.Context, own)
		}
		return entities, err
	}
	ids := e.ids
	if len(ids) == 0 {
		ids = []string{service.NewID()}
	}
	entities := make([]*guidonv1.ExplainEntity, len(ids))
	for i, id := range ids {
		if id == "" {
			return nil, cli.UsageError("--entity-id must not be empty")
		}
		entities[i] = &guidonv1.ExplainEntity{EntityId: id, Context: shared}
	}
	return entities, nil
}

// addContext adds the values of a JSON object, as strings.
func addContext(to map[string]string, object []byte) error {
	if !json.Valid(object) || !bytes.HasPrefix(bytes.TrimSpace(object), []byte("{")) {
		return errors.New("must be a JSON object")
	}
	m := new(guidonv1.ExplainEntity)
	if err := codec.Unmarshal(fmt.Appendf(nil, `{"context":%s}`, object), m, maxInputValues); err != nil {
		return err
	}
	maps.Copy(to, m.GetContext())
	return nil
}

// Limits of files with contexts and entities: bytes, and values in their JSON.
const (
	maxInput       = 4 << 20
	maxInputValues = 100_000
)

// readEntities reads entities from a file: a JSON array of objects with entityId and context,
// or one such object or one entity id per line.
func readEntities(p *cli.Program, path string) ([]*guidonv1.ExplainEntity, error) {
	text, err := p.ReadInput(path, maxInput)
	if err != nil {
		return nil, err
	}
	list := bytes.TrimSpace(text)
	if !bytes.HasPrefix(list, []byte("[")) {
		if list, err = listOfLines(list); err != nil {
			return nil, fmt.Errorf("%s: %w", cli.StreamName(path), err)
		}
	}
	if !json.Valid(list) {
		return nil, fmt.Errorf("%s: must be a JSON array, or one JSON object or entity id per line", cli.StreamName(path))
	}
	m := new(guidonv1.ExplainBatchRequest)
	if err := codec.Unmarshal(fmt.Appendf(nil, `{"entities":%s}`, list), m, maxInputValues); err != nil {
		return nil, fmt.Errorf("%s: %w", cli.StreamName(path), err)
	}
	if len(m.GetEntities()) == 0 {
		return nil, fmt.Errorf("%s: contains no entities", cli.StreamName(path))
	}
	return m.GetEntities(), nil
}

// listOfLines returns the JSON array of the entities in the lines.
func listOfLines(text []byte) ([]byte, error) {
	var list [][]byte
	number := 0
	for line := range bytes.Lines(text) {
		number++
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0:
		case !utf8.Valid(line): // JSON would make another id of it
			return nil, fmt.Errorf("line %d: must be UTF-8", number)
		case line[0] != '{':
			list = append(list, change.Encode(map[string]string{"entityId": string(line)}))
		case !json.Valid(line):
			return nil, fmt.Errorf("line %d: must be a JSON object", number)
		default:
			list = append(list, line)
		}
	}
	return fmt.Appendf(nil, "[%s]", bytes.Join(list, []byte(","))), nil
}
