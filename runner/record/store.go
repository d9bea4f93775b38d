package record

// Store is a store outside of the targets that all of them ask, started for the session.
// Its CPU time is in no account of a target, and its memory is not theirs.
type Store struct {
	Version     string   `json:"version"`            // as it says itself
	Settings    []string `json:"settings,omitempty"` // other than its defaults
	CPUs        []int    `json:"cpus,omitempty"`     // that it may use; empty: all
	Connections int      `json:"connections"`        // that each target holds open to it
}
