package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// entityInput is the entity that a flag is evaluated for, as the command line gives it.
type entityInput struct {
	id      string
	context []string
	file    string
}

func (e *entityInput) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&e.id, "entity-id", "e", "", "`id` of the entity (default: a random one)")
	flags.StringArrayVarP(&e.context, "context", "c", nil, "a `key=value` for constraints to match, or a JSON object with values of any kind; may be repeated")
	flags.StringVar(&e.file, "context-file", "", "`file` with a JSON object of values, to which --context is added; - is the standard input")
}

// given reports whether an entity is given.
func (e *entityInput) given() bool { return e.id != "" || len(e.context) > 0 || e.file != "" }

// read returns the entity.
func (e *entityInput) read(p *program) (service.Entity, error) {
	entity := service.Entity{ID: e.id, Context: make(map[string]string)}
	if entity.ID == "" {
		entity.ID = service.NewID()
	}
	if e.file != "" {
		text, err := p.readInput(e.file, maxInput)
		if err != nil {
			return service.Entity{}, err
		}
		if err := addContext(entity.Context, text); err != nil {
			return service.Entity{}, fmt.Errorf("%s: %w", streamName(e.file), err)
		}
	}
	var texts []string
	for _, text := range e.context {
		if !strings.HasPrefix(text, "{") {
			texts = append(texts, text)
			continue
		}
		if err := addContext(entity.Context, []byte(text)); err != nil {
			return service.Entity{}, usageError("invalid --context: %w", err)
		}
	}
	values, err := pairs("--context", texts)
	if err != nil {
		return service.Entity{}, err
	}
	for key, value := range values {
		entity.Context[key] = value
	}
	return entity, nil
}

// addContext adds the values of a JSON object, as strings.
func addContext(to map[string]string, object []byte) error {
	if !json.Valid(object) || !bytes.HasPrefix(bytes.TrimSpace(object), []byte("{")) {
		return errors.New("must be a JSON object")
	}
	m := new(guidonv1.ExplainEntity)
	if err := codec.Unmarshal(wrapped(`{"context":`, object, `}`), m, maxInputValues); err != nil {
		return err
	}
	for key, value := range m.GetContext() {
		to[key] = value
	}
	return nil
}

// Limits of files with contexts and entities: bytes, and values in their JSON.
const (
	maxInput       = 4 << 20
	maxInputValues = 100_000
)

// readEntities reads entities from a file: a JSON array of objects with entityId and context,
// or one such object or one entity id per line.
func (p *program) readEntities(path string) ([]*guidonv1.ExplainEntity, error) {
	text, err := p.readInput(path, maxInput)
	if err != nil {
		return nil, err
	}
	list := bytes.TrimSpace(text)
	if !bytes.HasPrefix(list, []byte("[")) {
		if list, err = listOfLines(list); err != nil {
			return nil, fmt.Errorf("%s: %w", streamName(path), err)
		}
	}
	if !json.Valid(list) {
		return nil, fmt.Errorf("%s: must be a JSON array, or one JSON object or entity id per line", streamName(path))
	}
	m := new(guidonv1.ExplainBatchRequest)
	if err := codec.Unmarshal(wrapped(`{"entities":`, list, `}`), m, maxInputValues); err != nil {
		return nil, fmt.Errorf("%s: %w", streamName(path), err)
	}
	if len(m.GetEntities()) == 0 {
		return nil, fmt.Errorf("%s: contains no entities", streamName(path))
	}
	return m.GetEntities(), nil
}

// listOfLines returns the JSON array of the entities in the lines.
func listOfLines(text []byte) ([]byte, error) {
	list := []byte{'['}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		if line[0] != '{' {
			id, err := json.Marshal(map[string]string{"entityId": string(line)})
			if err != nil {
				return nil, err
			}
			list = append(list, id...)
			continue
		}
		if !json.Valid(line) {
			return nil, fmt.Errorf("line %d: must be a JSON object", number)
		}
		list = append(list, line...)
	}
	return append(list, ']'), nil
}

// wrapped returns the text between two others.
func wrapped(before string, text []byte, after string) []byte {
	return append(append([]byte(before), text...), after...)
}
