// Command stub is the misbehaving server as a program of its own.
package main

import (
	"os"

	"gonogo/runner/internal/stub"
)

func main() { os.Exit(stub.Main(os.Args[1:])) }
