package object

import (
	"encoding/json"
	"fmt"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

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
