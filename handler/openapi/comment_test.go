package openapi

import (
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// comments are the comments of messages, enums, fields and values in the .proto files, by
// full names. The values of an enum are in the scope of the enum: "flipt.FlagType.X".
type comments map[protoreflect.FullName]string

var (
	protoPackage = regexp.MustCompile(`^package ([\w.]+);`)
	protoType    = regexp.MustCompile(`^(?:message|enum) (\w+) \{`)
	protoMember  = regexp.MustCompile(`^ +(?:(?:repeated |optional )?(?:map<[^>]*>|[\w.]+) )?(\w+) = \d+`)
)

// readComments reads the .proto files. They are formatted alike: one member in a line,
// and no types within types.
func readComments(wire fs.FS) (comments, error) {
	names, err := fs.Glob(wire, "*/*.proto")
	if err != nil {
		return nil, err
	}
	all := make(comments)
	for _, name := range names {
		text, err := fs.ReadFile(wire, name)
		if err != nil {
			return nil, err
		}
		all.read(string(text))
	}
	return all, nil
}

func (c comments) read(text string) {
	var scope, current protoreflect.FullName
	var comment []string
	for line := range strings.Lines(text) {
		if words, is := strings.CutPrefix(strings.TrimSpace(line), "//"); is {
			comment = append(comment, strings.TrimSpace(words))
			continue
		}
		if found := protoPackage.FindStringSubmatch(line); found != nil {
			scope = protoreflect.FullName(found[1])
		} else if found := protoType.FindStringSubmatch(line); found != nil {
			current = scope.Append(protoreflect.Name(found[1]))
			c[current] = strings.Join(comment, " ")
		} else if found := protoMember.FindStringSubmatch(line); found != nil {
			c[current.Append(protoreflect.Name(found[1]))] = strings.Join(comment, " ")
		}
		comment = nil
	}
}

// ofType returns the comment of a message or enum without its name, such as "One page of
// flags.", or "" if it has no comment.
func (c comments) ofType(d protoreflect.Descriptor) string {
	text := strings.TrimPrefix(c.of(d.FullName()), string(d.Name())+" ")
	for _, verb := range []string{"is ", "are "} {
		text = strings.TrimPrefix(text, verb)
	}
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// of returns the comment, in which fields are spelled as in JSON, or "" if it does not exist.
func (c comments) of(name protoreflect.FullName) string { return inJSON(c[name]) }

// typeName matches the names of messages for responses.
var typeName = regexp.MustCompile(`\b([A-Z]\w*)Response\b`)

var snakeCase = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)

// inJSON replaces the names of fields by those in JSON, and of messages by those of schemas.
func inJSON(text string) string {
	text = typeName.ReplaceAllString(text, "${1}Result")
	return snakeCase.ReplaceAllStringFunc(text, func(name string) string {
		if json, ok := jsonNames()[name]; ok {
			return json
		}
		return name
	})
}

// jsonNames returns the JSON names of all fields of our messages by their names.
var jsonNames = sync.OnceValue(func() map[string]string {
	names := make(map[string]string)
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !isOurs(file) {
			return true
		}
		for i := range file.Messages().Len() {
			fields := file.Messages().Get(i).Fields()
			for j := range fields.Len() {
				names[fields.Get(j).TextName()] = fields.Get(j).JSONName()
			}
		}
		return true
	})
	return names
})

func isOurs(file protoreflect.FileDescriptor) bool {
	return !strings.HasPrefix(string(file.Package()), "google.")
}
