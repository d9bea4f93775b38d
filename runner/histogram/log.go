package histogram

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"gonogo/runner/record"
)

// Tagged is a histogram of an interval in a log.
type Tagged struct {
	Tag           string
	Start, Length time.Duration // from the log's start
	*record.Histogram
}

// WriteLog writes an HdrHistogram log, version 1.3: times in seconds, maxima in
// milliseconds, values in nanoseconds.
func WriteLog(w io.Writer, start time.Time, list []Tagged) error {
	b := bufio.NewWriter(w)
	seconds := float64(start.UnixNano()) / 1e9
	fmt.Fprintf(b, "#[Histogram log format version 1.3]\n#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, start.UTC().Format(time.RFC3339))
	fmt.Fprintln(b, `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
	for _, t := range list {
		fmt.Fprintf(b, "Tag=%s,%.3f,%.3f,%.3f,%s\n", t.Tag, t.Start.Seconds(), t.Length.Seconds(), float64(t.Max)/1e6, t.V2)
	}
	return b.Flush()
}

// WriteDistribution writes the percentile distribution as HdrHistogram's plotter
// reads it, in milliseconds.
func (h *H) WriteDistribution(w io.Writer) error {
	const ticks = 5 // per halving of the distance to 100 %
	_, err := h.counts.PercentilesPrint(w, ticks, 1e6)
	return err
}
