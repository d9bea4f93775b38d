package histogram

import (
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// otherGeometry is the text of a histogram that asks for 48 MB of counts.
func otherGeometry(t *testing.T) string {
	t.Helper()
	h := hdr.New(1, 1<<62, 5)
	_ = h.RecordValue(1_000_000)
	text, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
