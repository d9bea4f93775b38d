package session

import "gonogo/runner/record"

// pausesIn are the pauses that can have touched a request of the window. None where
// there was no window, or its place on the common clock is not known.
func pausesIn(l *record.LoadResult, all []record.ServerPause) []record.ServerPause {
	if l == nil || l.StartMonotonic == nil {
		return nil
	}
	// What is in flight at the second edge is waited for, and its pause with it.
	drained := *l.StartMonotonic + l.Window
	for _, s := range l.Slowest {
		drained = max(drained, *l.StartMonotonic+s.Done)
	}
	var kept []record.ServerPause
	for _, p := range all {
		if p.Start+p.Late+p.Length >= *l.StartMonotonic && p.Start <= drained {
			kept = append(kept, p)
		}
	}
	return kept
}
