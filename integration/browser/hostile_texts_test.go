package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// hostileScript is the script of the texts that have one.
const hostileScript = "alert(window." + webtest.HostileMarker + "=1)"

// hostileEndings end what a text may be part of: a value of an attribute, an element whose content
// is text, a comment, or a string of a script.
var hostileEndings = []string{
	``, `">`, `'>`, "`>", `x>`, `\">`, `</script>`, `</style>`, `</title>`, `</textarea>`, `</select>`, `</option></select>`, `</template>`,
	`</noscript>`, `</svg>`, `</math>`, `</button>`, `</dialog>`, `-->`, `--!>`, `]]>`, "\x00\">", "\u2028\">", "\n\n\">", `&#34;>`,
}

// hostileElements run a script, each in a way of its own.
var hostileElements = []string{
	`<img src=x onerror=%s>`, `<svg/onload=%s>`, `<script>%s</script>`, `<details open ontoggle=%s>`, `<input autofocus onfocus=%s>`, `<video><source onerror=%s></video>`,
	`<body onload=%s>`, `<style onload=%s></style>`, `<iframe srcdoc="<script>%s</script>"></iframe>`, `<iframe src="javascript:%s"></iframe>`, `<object data="javascript:%s"></object>`,
	`<svg><animate onbegin=%s attributeName=x></svg>`, `<a autofocus href="javascript:%s" onfocus=%[1]s>a</a>`, `<form action="javascript:%s"><button autofocus>`, `<marquee onstart=%s>`,
}

// hostileAttributes are attributes that run a script.
var hostileAttributes = []string{"onfocus", "onload", "onerror", "onanimationstart", "ontransitionend", "oninput", "onclick", "onbeforetoggle", "onpointerover", "style", "srcdoc", "formaction", "href", "data-confirm"}

// hostileTexts returns a few hundred strings that must be text wherever a page shows them: those
// of [webtest.HostileTexts], and what a page might run that has them in an attribute, an element,
// a comment or a script.
func hostileTexts() []string {
	all := webtest.HostileTexts()
	for _, end := range hostileEndings {
		for _, element := range hostileElements {
			all = append(all, end+fmt.Sprintf(element, hostileScript))
		}
	}
	for _, name := range hostileAttributes {
		for _, quote := range []string{`"`, `'`, "`", ` `} {
			all = append(all, quote+" autofocus "+name+"="+quote+hostileScript+quote+" x="+quote)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inBatches returns the texts in strings of several, of at most size bytes each if no text is
// longer.
func inBatches(texts []string, size int) (joined []string) {
	for _, text := range texts {
		last := len(joined) - 1
		if last < 0 || len(joined[last])+1+len(text) > size {
			joined = append(joined, text)
			continue
		}
		joined[last] += "\n" + text
	}
	return joined
}

// TestHostileTexts: there are a few hundred different strings, and batches have all of them.
func TestHostileTexts(t *testing.T) {
	all := hostileTexts()
	if len(all) < 400 {
		t.Errorf("%d strings, want at least 400", len(all))
	}
	seen := make(map[string]bool)
	for _, text := range all {
		if seen[text] || strings.Contains(text, "%!") {
			t.Errorf("%q is there twice, or has no script", text)
		}
		seen[text] = true
	}
	joined := inBatches(all, 3000)
	if got := strings.Join(joined, "\n"); got != strings.Join(all, "\n") || len(joined) > 30 {
		t.Errorf("%d batches do not have all strings", len(joined))
	}
	for _, b := range joined {
		if len(b) > 3000 && strings.Contains(b, "\n") && !strings.Contains(b, "<b><b>") {
			t.Errorf("a batch has %d bytes", len(b))
		}
	}
}
