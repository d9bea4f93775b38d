package report

import (
	"strings"

	"gonogo/runner/record"
)

func printable(s string) string { return record.Printable(s) }

var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "|", `\|`, "*", `\*`, "_", `\_`, "~", `\~`, "#", `\#`,
	"[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
)

// inMarkdown escapes text for any place in Markdown, a table's cell included.
func inMarkdown(s string) string { return markdownSpecial.Replace(printable(s)) }

func inCSV(s string) string { return record.InCSV(s) }
