package hostiletest

import (
	"fmt"
	"slices"
)

// attack is the script of the texts that have one.
const attack = "alert(window." + Marker + "=1)"

// endings end what a text may be part of: a value of an attribute, an element whose content
// is text, a comment, or a string of a script.
var endings = []string{
	``, `">`, `'>`, "`>", `x>`, `\">`, `</script>`, `</style>`, `</title>`, `</textarea>`, `</select>`, `</option></select>`, `</template>`,
	`</noscript>`, `</svg>`, `</math>`, `</button>`, `</dialog>`, `-->`, `--!>`, `]]>`, "\x00\">", "\u2028\">", "\n\n\">", `&#34;>`,
}

// elements run a script, each in a way of its own.
var elements = []string{
	`<img src=x onerror=%s>`, `<svg/onload=%s>`, `<script>%s</script>`, `<details open ontoggle=%s>`, `<input autofocus onfocus=%s>`, `<video><source onerror=%s></video>`,
	`<body onload=%s>`, `<style onload=%s></style>`, `<iframe srcdoc="<script>%s</script>"></iframe>`, `<iframe src="javascript:%s"></iframe>`, `<object data="javascript:%s"></object>`,
	`<svg><animate onbegin=%s attributeName=x></svg>`, `<a autofocus href="javascript:%s" onfocus=%[1]s>a</a>`, `<form action="javascript:%s"><button autofocus>`, `<marquee onstart=%s>`,
}

// handlers are attributes that run a script.
var handlers = []string{"onfocus", "onload", "onerror", "onanimationstart", "ontransitionend", "oninput", "onclick", "onbeforetoggle", "onpointerover", "style", "srcdoc", "formaction", "href", "data-confirm"}

// All returns a few hundred strings that must be text wherever a page shows them: those of
// [Texts], and what a page might run that has them in an attribute, an element, a comment or
// a script.
func All() []string {
	all := Texts()
	for _, end := range endings {
		for _, element := range elements {
			all = append(all, end+fmt.Sprintf(element, attack))
		}
	}
	for _, name := range handlers {
		for _, quote := range []string{`"`, `'`, "`", ` `} {
			all = append(all, quote+" autofocus "+name+"="+quote+attack+quote+" x="+quote)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Batches returns the texts in strings of several, of at most size bytes each if no text is
// longer.
func Batches(texts []string, size int) (batches []string) {
	for _, text := range texts {
		last := len(batches) - 1
		if last < 0 || len(batches[last])+1+len(text) > size {
			batches = append(batches, text)
			continue
		}
		batches[last] += "\n" + text
	}
	return batches
}
