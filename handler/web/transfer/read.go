package transfer

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/service"
)

// The fields with a file.
const (
	fieldFile = "file"
	fieldText = "text"
)

// Limits of a file.
const (
	maxValues   = 200_000 // of YAML or JSON, roughly
	maxExcerpt  = 200     // bytes of the line with a fault
	costOfValue = 600     // bytes of memory that a value takes while it is read
	maxAliased  = 256 << 10
)

// What may be an anchor of YAML, and an alias. Aliases are limited less exactly in a long
// file, which is read in parts.
var (
	anchorLike = regexp.MustCompile(`(?m)(^|[\s,\[{:-])&[^\s&,]`)
	aliasLike  = regexp.MustCompile(`(?m)(^|[\s,\[{:-])\*[^\s*,]`)
)

// textOf returns the file that was sent or, without one, the text.
func textOf(form url.Values) string {
	return cmp.Or(form.Get(fieldFile), form.Get(fieldText))
}

// fault is why a file cannot be read.
type fault struct {
	Message string
	Line    int // 0 if it is not known
	Column  int // 0 if it is not known
	Excerpt string
}

// Error returns the fault with its place, as a sentence.
func (f *fault) Error() string {
	place := ""
	if f.Line > 0 {
		place = "Line " + page.Number(f.Line)
		if f.Column > 0 {
			place += ", column " + page.Number(f.Column)
		}
		place += ": "
	}
	text := place + review.ProblemText(f.Message)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// separators are the strings that separate the values of YAML and JSON. A value has at least one.
var separators = []string{"\n", ",", "[", "{", "- ", "? "}

// read returns the documents of a file. The memory that this takes is reserved.
func read(v *page.Visit, text string) ([]*service.Document, *fault, error) {
	if strings.TrimSpace(text) == "" {
		return nil, &fault{Message: "Choose a file, or paste its text"}, nil
	}
	values := 0
	for _, separator := range separators {
		values += strings.Count(text, separator)
	}
	if values > maxValues {
		return nil, &fault{Message: "This file has too many values to be read here. Import it with the command line: guidon import"}, nil
	}
	if len(text) > maxAliased && anchorLike.MatchString(text) && aliasLike.MatchString(text) {
		return nil, &fault{Message: "This file is too large to be read here with its aliases. Import it with the command line: guidon import"}, nil
	}
	if err := v.Reserve(v.Request.Context(), int64(values)*costOfValue+4*int64(len(text))); err != nil {
		return nil, nil, err
	}
	documents, err := document.Decode(strings.NewReader(text), document.FormatOfText([]byte(text)), document.RejectUnknown)
	if code := guidon.CodeOf(err); code == guidon.InvalidArgument || code == guidon.TooLarge {
		f := faultOf(text, guidon.PublicMessage(err))
		if placed, ok := errors.AsType[*document.PlacedError](err); ok {
			f.Column = placed.Column
		}
		return nil, f, nil
	}
	if err == nil && len(documents) == 0 {
		return nil, &fault{Message: "There is nothing in this file"}, nil
	}
	return documents, nil, err
}

// The places in the errors of documents.
var (
	linePlace = regexp.MustCompile(`^document \d+, line (\d+): `)
	bytePlace = regexp.MustCompile(`^document \d+: (?:.*: )?byte (\d+): `)
	noPlace   = regexp.MustCompile(`^document (\d+): `)
)

// faultOf returns the fault that an error of [document.Decode] describes.
func faultOf(text, message string) *fault {
	f := &fault{Message: message}
	if at := linePlace.FindStringSubmatch(message); at != nil {
		f.Message = message[len(at[0]):]
		f.Line, _ = strconv.Atoi(at[1])
	} else if at := bytePlace.FindStringSubmatch(message); at != nil {
		f.Message = message[len(at[0]):]
		offset, _ := strconv.Atoi(at[1])
		skipped := len(text) - len(withoutHeader(text))
		f.Line, f.Column = page.PlaceOf(text, culprit(text, skipped+offset, f.Message))
	} else if at := noPlace.FindStringSubmatch(message); at != nil && at[1] == "1" {
		f.Message = message[len(at[0]):]
	}
	f.Excerpt = excerpt(text, f.Line)
	return f
}

// withoutHeader returns the text without the prefix that the JSON reader skips before it counts bytes.
func withoutHeader(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// badCharacter matches the character in an error of package encoding/json.
var badCharacter = regexp.MustCompile(`^invalid character '(.|\\.)' `)

// culprit returns the offset of the character that the error is about. Depending on what was
// read, the offset in the error is that character's or the next one's.
func culprit(text string, offset int, message string) int {
	bad := badCharacter.FindStringSubmatch(message)
	if offset < len(text) && bad != nil && strings.HasPrefix(text[offset:], bad[1]) {
		return offset
	}
	return max(offset-1, 0)
}

// excerpt returns the line of the text, or "".
func excerpt(text string, line int) string {
	lines := strings.SplitN(text, "\n", line+1)
	if line < 1 || line > len(lines) {
		return ""
	}
	return page.Printable(lines[line-1], maxExcerpt)
}
