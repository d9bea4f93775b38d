// Package disk is every call by which a session changes a file system: its archive
// and its logs are written through these and no others.
//
// They are variables so that tests can put calls that fail, or that end the
// process, in their place (internal/baddisk). Nothing else sets them, and nothing
// that a user can say does.
package disk

import "os"

// The calls, as package os has them.
var (
	OpenFile  = os.OpenFile
	Write     = (*os.File).Write
	Sync      = (*os.File).Sync
	Close     = (*os.File).Close
	Mkdir     = os.Mkdir
	Rename    = os.Rename
	Remove    = os.Remove
	RemoveAll = os.RemoveAll
)
