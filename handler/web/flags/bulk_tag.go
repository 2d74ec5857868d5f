package flags

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxTag limits a tag, in bytes: lists cut longer ones.
const maxTag = 100

// tagEdits returns the edits that add the tag to the flags which lack it.
func (s *selection) tagEdits(since int64) (edits []*guidonv1.FlagEdit, err error) {
	tag := strings.TrimSpace(s.form.Get("tag"))
	if problem := checkTag(tag); problem != "" {
		s.problems.Add("tag", problem)
		return nil, nil
	}
	for _, r := range s.rows {
		content, err := page.GetFlagContent.Run(s.v, &guidonv1.GetFlagContentRequest{NamespaceKey: s.v.Key(), Key: r.Key})
		if guidon.CodeOf(err) == guidon.NotFound { // deleted just now
			n, err := deleted(s.v, r.Key)
			if err != nil {
				return nil, err
			}
			s.changed = append(s.changed, n)
			continue
		}
		if err != nil {
			return nil, err
		}
		tagged := page.WithTag(content.GetFlag().GetMetadata(), tag)
		switch tagged {
		case content.GetFlag().GetMetadata():
			continue
		case "":
			s.problems.Add("tag", fmt.Sprintf("The tags of %s are not a list of texts. Change them on its page first.", r.Name))
			return nil, nil
		}
		put := proto.CloneOf(content.GetFlag())
		put.Metadata = tagged
		edits = append(edits, &guidonv1.FlagEdit{Put: put, UnlessChangedSince: &since})
	}
	return edits, nil
}

// checkTag returns the problem of a tag, or "".
func checkTag(tag string) string {
	switch {
	case tag == "":
		return "A tag is needed."
	case strings.Contains(tag, ","):
		return "One tag, without commas."
	case len(tag) > maxTag:
		return fmt.Sprintf("%d bytes at most, this has %d.", maxTag, len(tag))
	case page.Printable(tag, len(tag)) != tag:
		return "Only characters that can be seen."
	}
	return ""
}
