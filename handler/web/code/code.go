package code

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/flag"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// fieldLanguage is the field of the address with the language.
const fieldLanguage = "lang"

// model is the page.
type model struct {
	flag     *guidonv1.DocumentFlag
	head     templ.Component
	facts    *Facts
	language Language
	code     string
	answers  []answer // the possible results of the flag
	more     int      // answers that are not shown
}

// answer is something that the flag may answer.
type answer struct{ Color, Name string }

// Limits of the page.
const (
	maxAnswers    = 50
	maxProperties = 20
)

// show shows the code in a language, which is remembered.
func show(v *page.Visit) error {
	content, err := page.GetFlagContent.Run(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: v.Variable("flag")})
	if err != nil {
		return err
	}
	m := &model{flag: content.GetFlag(), language: languageOf(v)}
	if m.facts, err = FactsOf(v, m.flag); err != nil {
		return err
	}
	m.code = m.language.Write(m.snippet(v.Address(), v.Key()))
	m.answer()
	name, head, err := flag.Head(v, m.flag.GetKey(), "code")
	if err != nil {
		return err
	}
	m.head = head
	return v.Reply(http.StatusOK, page.Page{
		Title: "Code for " + name, Place: page.PlaceFlags, Main: main(v, m),
		Crumbs: []page.Crumb{
			{Text: "Flags", Address: v.In("flags")}, {Text: m.flag.GetKey(), Address: v.In("flags", m.flag.GetKey())}, {Text: "Code"},
		},
	})
}

// languageOf returns the language of the address, which is remembered, or the one that was
// used last.
func languageOf(v *page.Visit) Language {
	asked := v.Query().Get(fieldLanguage)
	language := Find(cmp.Or(asked, v.Preferences.Language))
	if asked == language.ID && v.Preferences.Language != asked {
		p := v.Preferences
		p.Language = asked
		v.SetPreferences(p)
	}
	return language
}

// snippet returns the flag as the example code needs it.
func (m *model) snippet(address, namespace string) Flag {
	f := Flag{Address: address, Namespace: namespace, Key: m.flag.GetKey(), Kind: m.kind(), Boolean: m.isBoolean()}
	if variants := m.flag.GetVariants(); len(variants) > 0 {
		f.Default = variants[0].GetKey()
		for _, v := range variants {
			if v.GetDefault() {
				f.Default = v.GetKey()
			}
		}
	}
	f.Properties = m.facts.Properties[:min(len(m.facts.Properties), maxProperties)]
	return f
}

func (m *model) isBoolean() bool { return m.flag.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE }

// kind returns the kind of values that OpenFeature gets. They are the keys of variants, unless
// the metadata of the flag want the attachments.
func (m *model) kind() Kind {
	if m.isBoolean() {
		return Boolean
	}
	var metadata struct {
		Value string `json:"openfeature.value"`
	}
	if json.Unmarshal([]byte(m.flag.GetMetadata()), &metadata) != nil || metadata.Value != "attachment" {
		return Text
	}
	for _, v := range m.flag.GetVariants() {
		switch text := bytes.TrimSpace([]byte(v.GetAttachment())); {
		case len(text) == 0 || string(text) == "null":
		case text[0] == '{' || text[0] == '[':
			return Object
		case text[0] == '"':
			return Text
		case text[0] == 't' || text[0] == 'f':
			return Boolean
		default:
			return Number
		}
	}
	return Text
}

// answer collects the possible results of the flag.
func (m *model) answer() {
	if m.isBoolean() {
		m.answers = []answer{{"c-on", "true"}, {"c-off", "false"}}
		return
	}
	for i, v := range m.flag.GetVariants() {
		if i == maxAnswers {
			m.more = len(m.flag.GetVariants()) - i
			break
		}
		m.answers = append(m.answers, answer{part.VariantColor(i), v.GetKey()})
	}
}

// address returns the address of the page in a language.
func (m *model) address(v *page.Visit, language string) string {
	return v.In("flags", m.flag.GetKey(), "code") + "?" + url.Values{fieldLanguage: {language}}.Encode()
}
