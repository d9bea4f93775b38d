package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// printable escapes what a terminal would obey or not show: control characters,
// text direction marks, bytes that are not UTF-8. Names come from users and
// reasons from servers.
func printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || !strconv.IsPrint(r) {
			quoted := strconv.Quote(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "|", `\|`, "*", `\*`, "_", `\_`, "~", `\~`, "#", `\#`,
	"[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
)

// inMarkdown escapes text for any place in Markdown, a table's cell included.
func inMarkdown(s string) string { return markdownSpecial.Replace(printable(s)) }

// inCSV disarms text that a spreadsheet would take for a formula.
func inCSV(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
