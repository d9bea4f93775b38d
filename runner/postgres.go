package main

import (
	"strings"

	"gonogo/runner/record"
)

// databaseOf is the name of a target's database.
func databaseOf(t record.Target) string { return strings.ReplaceAll(t.Name, "-", "_") }
