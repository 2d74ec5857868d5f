package transfer

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
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
		return nil, faultOf(text, err), nil
	}
	if err == nil && len(documents) == 0 {
		return nil, &fault{Message: "There is nothing in this file"}, nil
	}
	return documents, nil, err
}

// faultOf returns the fault that an error of [document.Decode] describes, with its place if that is known.
func faultOf(text string, err error) *fault {
	f := &fault{Message: guidon.PublicMessage(err)}
	found := document.Lint([]byte(text), document.FormatOfText([]byte(text)), document.RejectUnknown).Findings
	found = slices.DeleteFunc(found, func(found document.Finding) bool { return found.Warning })
	if len(found) > 0 {
		same := slices.IndexFunc(found, func(found document.Finding) bool { return strings.HasSuffix(f.Message, found.Message) })
		first := found[max(0, same)]
		f.Message, f.Line, f.Column = first.Message, first.Line, first.Column
		if first.Path != "" {
			f.Message = first.Path + ": " + first.Message
		}
	}
	f.Excerpt = excerpt(text, f.Line)
	return f
}

// excerpt returns the line of the text, or "".
func excerpt(text string, line int) string {
	lines := strings.SplitN(text, "\n", line+1)
	if line < 1 || line > len(lines) {
		return ""
	}
	return page.Printable(lines[line-1], maxExcerpt)
}
