package histogram

import (
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"gonogo/runner/record"
)

// maxText bounds what Decode looks at: a histogram of this geometry has 33 792
// counts, and even with a random 9-byte count in each it stays below.
const maxText = 1 << 20

// Encode returns the histogram as it is archived. Any HdrHistogram tool reads
// the text.
func (h *H) Encode() *record.Histogram {
	text, err := h.counts.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil { // it writes to memory only
		panic("encode histogram: " + err.Error())
	}
	return &record.Histogram{
		Count: h.Count(), Min: h.Min(), Max: h.Max(), Sum: h.Sum(), Mean: h.Mean(),
		V2: string(text),
	}
}

// Decode reads an archived histogram. It refuses a text that does not agree
// with the exact members beside it, and any geometry but ours, before it
// allocates for it.
func Decode(r *record.Histogram) (*H, error) {
	if r == nil {
		return nil, errors.New("decode histogram: there is none")
	}
	if err := checkGeometry(r.V2); err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	counts, err := hdr.Decode([]byte(r.V2))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	h := New()
	if dropped := h.counts.Merge(counts); dropped != 0 {
		return nil, fmt.Errorf("decode histogram: %d values out of range", dropped)
	}
	if h.Count() != r.Count {
		return nil, fmt.Errorf("decode histogram: text holds %d values, record says %d", h.Count(), r.Count)
	}
	if r.Count == 0 {
		return h, nil
	}
	if r.Min < 0 || r.Min > r.Mean || r.Mean > r.Max || !h.agrees(r.Min, h.counts.Min()) || !h.agrees(r.Max, h.counts.Max()) {
		return nil, fmt.Errorf("decode histogram: minimum %v, mean %v and maximum %v do not fit the distribution", r.Min, r.Mean, r.Max)
	}
	h.min, h.max, h.sum = r.Min, r.Max, r.Sum
	if h.Mean() != r.Mean {
		return nil, fmt.Errorf("decode histogram: sum %v over %d values is not the mean %v", r.Sum, r.Count, r.Mean)
	}
	return h, nil
}

// agrees reports whether an exact value falls into the bucket of v.
func (h *H) agrees(exact time.Duration, v int64) bool {
	return h.counts.ValuesAreEquivalent(min(int64(exact), highest), v)
}

// checkGeometry looks at the header alone: a hostile one could ask the library
// for 48 MB of counts with a hundred bytes.
func checkGeometry(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("text of %d bytes, at most %d are read", len(text), maxText)
	}
	b64 := base64.NewDecoder(base64.StdEncoding, strings.NewReader(text))
	var outer struct{ Cookie, Length int32 }
	if err := binary.Read(b64, binary.BigEndian, &outer); err != nil {
		return fmt.Errorf("read outer header: %w", err)
	}
	z, err := zlib.NewReader(b64)
	if err != nil {
		return fmt.Errorf("read compressed part: %w", err)
	}
	defer z.Close()
	var inner struct {
		Cookie, Length, Offset, Digits int32
		Lowest, Highest                int64
	}
	if err := binary.Read(io.LimitReader(z, 40), binary.BigEndian, &inner); err != nil {
		return fmt.Errorf("read inner header: %w", err)
	}
	if inner.Digits != digits || inner.Lowest != lowest || inner.Highest != highest {
		return fmt.Errorf("geometry %d..%d with %d digits, want %d..%d with %d",
			inner.Lowest, inner.Highest, inner.Digits, lowest, highest, digits)
	}
	return nil
}
